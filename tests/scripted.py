"""Stand-ins for a checkpoint's parts: no tensors, fixed answers, steps of a chosen length.

A prompt's answer is written in its text: `prepare` keeps the last user text, the forecaster passes it on as the prompt,
and the engine says it word by word, one word a step.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from deployments.parts import Prepare
from seer_core.errors import ContextLengthExceeded, InvalidRequest
from seer_core.prompt import EncodedPrompt, Prompt
from seer_core.types import Decoding, Delta, Forecast, Message, Outcome, Usage


@dataclass(frozen=True)
class SpokenPrompt:
    """Stands where an EncodedPrompt would."""

    text: str

    @property
    def length_tokens(self) -> int:
        return len(self.text.split())


def prepare(messages: Sequence[Message], canvas_tokens: int) -> Prompt:
    text = messages[-1].text
    if len(text.split()) + canvas_tokens > 2048:
        raise ContextLengthExceeded("too long", field="messages")
    ids = np.frombuffer(text.encode(), np.uint8).astype(np.int64)
    return Prompt(ids=ids, images=(), length_tokens=len(ids))


class ScriptedForecaster:
    """Foresees the number of words exactly."""

    def encode(self, prompt: Prompt) -> EncodedPrompt:
        return SpokenPrompt(prompt.ids.astype(np.uint8).tobytes().decode())  # type: ignore[return-value]

    def forecast(
        self, prompts: Sequence[EncodedPrompt], canvas_tokens: Sequence[int], decodings: Sequence[Decoding]
    ) -> list[Forecast]:
        if any(decoding.detector == "unknown" for decoding in decodings):
            raise InvalidRequest("unknown detector", field="detector")
        return [foreseen(prompt.length_tokens, canvas) for prompt, canvas in zip(prompts, canvas_tokens, strict=True)]


def foreseen(words: int, canvas_tokens: int) -> Forecast:
    return Forecast(
        length_tokens=max(1, min(words, canvas_tokens)),
        canvas_tokens=canvas_tokens,
        boundary=words,
        detector="scripted",
        score=1.0,
        jump=1.0,
        noise=0.1,
        snr=10.0,
        fallback=False,
    )


@dataclass
class Speech:
    row: Any
    words: list[str]
    spoken: int = 0


@dataclass
class ScriptedEngine:
    """Says one word of every row a step. The word BOOM fails its row, CRASH the whole step, FREEZE blocks for 2 s."""

    max_rows: int
    step_s: float = 0.0
    speeches: dict[str, Speech] = field(default_factory=dict)

    @property
    def free_rows(self) -> int:
        return self.max_rows - len(self.speeches)

    @property
    def idle(self) -> bool:
        return not self.speeches

    def admit(self, rows: Sequence[Any]) -> None:
        for row in rows:
            self.speeches[row.id] = Speech(row, row.prompt.text.split()[: row.sampling.max_tokens])

    def cancel(self, ids: Collection[str]) -> None:
        for row_id in ids:
            self.speeches.pop(row_id, None)

    def step(self) -> list[Delta]:
        time.sleep(self.step_s)
        deltas = [self._say(speech) for speech in self.speeches.values()]
        self.cancel([delta.id for delta in deltas if delta.last])
        return deltas

    def _say(self, speech: Speech) -> Delta:
        word = speech.words[speech.spoken]
        if word == "CRASH":
            raise RuntimeError("the step crashed")
        if word == "FREEZE":
            time.sleep(2.0)
        if word == "BOOM":
            return Delta(id=speech.row.id, text="", error=InvalidRequest("boom", field="messages"))
        speech.spoken += 1
        text = word if speech.spoken == 1 else f" {word}"
        done = speech.spoken == len(speech.words)
        return Delta(id=speech.row.id, text=text, outcome=told(speech) if done else None)


def told(speech: Speech) -> Outcome:
    count = len(speech.words)
    return Outcome(
        text=" ".join(speech.words),
        tokens=tuple(range(count)),
        finish_reason="stop",
        forecast_tokens=speech.row.forecast.length_tokens,
        canvas_tokens=speech.row.forecast.canvas_tokens,
        kept_tokens=count,
        steps=count,
        regrown=0,
        usage=Usage(prompt_tokens=speech.row.prompt.length_tokens, completion_tokens=count),
        path="eager",
        detector="scripted",
    )


@dataclass(frozen=True)
class ScriptedParts:
    """Parts whose steps take `step_s`."""

    step_s: float = 0.0
    model_name: str = "scripted"
    calibrated: bool = True

    def prepare(self) -> Prepare:
        return prepare

    def forecaster(self) -> ScriptedForecaster:
        return ScriptedForecaster()

    def engine(self, max_rows: int) -> ScriptedEngine:
        return ScriptedEngine(max_rows=max_rows, step_s=self.step_s)


def build(args: dict[str, Any]) -> Any:
    """An application over scripted parts, for a configuration file: `step_s`, and the arguments of the real one."""
    from deployments.app import assemble, checked

    step_s = args.pop("step_s", 0.0)
    return assemble(checked(args), ScriptedParts(step_s=step_s))
