"""One request inside the engine: `Row` as it comes in, `ActiveRow` while it runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import partial
from math import isfinite
from typing import NamedTuple, TypeVar

from torch import Tensor

from seer_core.config import LoopFacts
from seer_core.engine.cache import CACHES
from seer_core.engine.canvas import Canvas
from seer_core.engine.commit import COMMITS, CommitNumbers
from seer_core.engine.control import Progress
from seer_core.engine.key_pool import Extent
from seer_core.engine.pace import PACES, Pace, PaceMaker
from seer_core.engine.plan import Lengths
from seer_core.engine.remasking import REMASKING
from seer_core.engine.sampler import Ask, Proposal, rank
from seer_core.engine.schedule import MAX_SHIFT, steps_for
from seer_core.engine.transcript import Decode, Transcript
from seer_core.errors import InvalidRequest
from seer_core.prompt import EncodedPrompt
from seer_core.types import Decoding, Forecast, Outcome, Path, Sampling, TokenRoles, Usage

Choice = TypeVar("Choice", bound=Callable[..., object])


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """What the engine takes: a request with its prompt encoded and its length foreseen."""

    id: str
    prompt: EncodedPrompt
    forecast: Forecast
    sampling: Sampling
    decoding: Decoding


class Stream(NamedTuple):
    """One run of the model for a row: its prompt, [P, D] on the model's device, and its stretch of the pool."""

    embeddings: Tensor
    extent: Extent


class Written(NamedTuple):
    """What one step put into a canvas."""

    slots: Sequence[int] = ()
    tokens: Sequence[int] = ()


class ActiveRow:
    """A row that runs. Its options are resolved once, here; raises `InvalidRequest` for those that cannot be.

    `loop` is how its family denoises where the request does not say. `streams` are what runs for it: the prompt, and
    where it is guided masks in the prompt's place. `path` is that of its last step, `error` is why it failed.
    """

    def __init__(self, row: Row, *, roles: TokenRoles, decode: Decode, loop: LoopFacts) -> None:
        _check(row)
        decoding = row.decoding
        self.row = row
        self.prompt_tokens = row.prompt.length_tokens
        self.streams: tuple[Stream, ...] = ()
        self.block_length = decoding.block_length or loop.block_length
        pace = _named("schedule", decoding.schedule or loop.schedule, PACES)
        self.canvas = Canvas(
            min(row.forecast.length_tokens, row.sampling.max_tokens),
            roles=roles,
            block_length=self.block_length,
            paces=partial(_paced, decoding, pace),
            stop=loop.stop,
        )
        self.transcript = Transcript(decode, row.sampling.stop)
        self.steps = 0
        self.regrown = 0
        self.path: Path = "eager"
        self.error: Exception | None = None
        self.progress = Progress(0, -1)
        self.moved = False  # whether more of the canvas has settled than was reported
        self.shift = int(loop.shifted)
        self._loop = loop
        self._end_ids = roles.end_ids
        self._cache = _named("cache", decoding.cache, CACHES)
        self._rule = _named("remasking", decoding.remasking or loop.remasking, REMASKING)
        self._commits = _named("commit", decoding.commit or loop.commit, COMMITS)
        threshold = loop.commit_threshold if decoding.commit_threshold is None else decoding.commit_threshold
        self._numbers = CommitNumbers(threshold=threshold, factor=decoding.commit_factor)

    @property
    def guidance(self) -> float:
        """How far the proposals are pushed away from what they would be without the prompt; 0 is not at all."""
        return self.row.decoding.guidance_scale

    @property
    def key_tokens(self) -> int:
        """Keys that each position attends to."""
        return self.prompt_tokens + len(self.canvas)

    @property
    def computed(self) -> range:
        """Absolute positions that this step computes."""
        whole = range(self._first_computed, self.key_tokens)
        if self.canvas.fresh:
            return whole
        block = self.canvas.block
        start = max(whole.start, self.prompt_tokens + block.start - self.shift)
        return self._cache(whole, range(start, self.prompt_tokens + block.stop))

    @property
    def _first_computed(self) -> int:
        if self._loop.prefix_lm:
            return self.prompt_tokens
        # The last prompt position predicts slot 0, so it is computed with the canvas.
        return self.prompt_tokens - 1 if self._loop.cache_after_first_step and self.steps else 0

    @property
    def lengths(self) -> Lengths:
        """What the planner sees."""
        computed = len(self.computed)
        return Lengths(computed, self.key_tokens - computed, max(1, len(self.streams)))

    def guided(self, logits: Sequence[Tensor]) -> Tensor:
        """The logits [M, V] of all streams as one."""
        if len(logits) == 1:
            return logits[0]
        with_prompt, without = logits
        return without + (self.guidance + 1) * (with_prompt - without)

    @property
    def ask(self) -> Ask:
        """What it wants proposed this step."""
        return Ask(len(self.canvas.holes), self.row.sampling, self._rule, self.steps, self._loop.top_k)

    def commit(self, proposal: Proposal) -> Written:
        """Write the most confident of the proposals into the canvas."""
        ranking = rank(proposal.confidence)
        chosen = ranking.order[: self._commits(ranking.confidence, self.canvas.due, self._numbers)]
        holes = self.canvas.holes
        slots, tokens = [holes[i] for i in chosen.tolist()], proposal.tokens[chosen].tolist()
        self.canvas.commit(slots, tokens)
        self.steps += 1
        return Written(slots, tokens)

    def start_with(self, token: int) -> None:
        """Commit the token of slot 0, which the prompt predicts, before the first step."""
        self.canvas.start_with(token)
        self.settle(Progress(1, 0 if token in self._end_ids else -1))

    def settle(self, progress: Progress) -> None:
        """Take note of how far the canvas is after a step."""
        self.moved, self.progress = self.moved or progress != self.progress, progress

    def regrow(self, length: int) -> None:
        """Append one block of `length` masks."""
        self.canvas.extend(length)
        self.regrown += 1

    def outcome(self) -> Outcome:
        """How it ended; only for a row whose answer is closed."""
        tokens = self.transcript.tokens_of(self.canvas.answer)
        forecast = self.row.forecast
        return Outcome(
            text=self.transcript.text,
            tokens=tokens,
            finish_reason="stop" if self.canvas.ended or self.transcript.stopped else "length",
            forecast_tokens=forecast.length_tokens,
            canvas_tokens=forecast.canvas_tokens,
            kept_tokens=len(self.canvas),
            steps=self.steps,
            regrown=self.regrown,
            usage=Usage(prompt_tokens=self.prompt_tokens, completion_tokens=len(tokens)),
            path=self.path,
            detector=forecast.detector,
        )


def _paced(decoding: Decoding, pace: PaceMaker, length: int, masks: int) -> Pace:
    return pace(masks, max(1, steps_for(length, decoding.steps_per_token)), decoding.schedule_shift)


def _check(row: Row) -> None:
    sampling, decoding = row.sampling, row.decoding
    for name, value, valid in (
        ("max_tokens", sampling.max_tokens, sampling.max_tokens >= 1),
        ("temperature", sampling.temperature, sampling.temperature >= 0),
        ("top_p", sampling.top_p, 0 < sampling.top_p <= 1),
        ("steps_per_token", decoding.steps_per_token, 0 < decoding.steps_per_token <= 1),
        ("schedule_shift", decoding.schedule_shift, 0 < decoding.schedule_shift <= MAX_SHIFT),
        ("guidance_scale", decoding.guidance_scale, isfinite(decoding.guidance_scale) and decoding.guidance_scale >= 0),
        ("commit_threshold", decoding.commit_threshold, isfinite(decoding.commit_threshold or 0)),
        ("commit_factor", decoding.commit_factor, isfinite(decoding.commit_factor) and decoding.commit_factor > 0),
        ("block_length", decoding.block_length, decoding.block_length is None or decoding.block_length >= 1),
        ("prompt", "empty", row.prompt.length_tokens >= 1),
        ("forecast", row.forecast.length_tokens, row.forecast.length_tokens >= 1),
    ):
        if not valid:
            raise InvalidRequest(f"{name} cannot be {value}", field=name)


def _named(field: str, name: str, known: Mapping[str, Choice]) -> Choice:
    if name in known:
        return known[name]
    near = get_close_matches(name, known, n=1)
    hint = f"; did you mean {near[0]!r}?" if near else ""
    raise InvalidRequest(f"unknown {field} {name!r}, known are {', '.join(known)}{hint}", field=field)
