"""One request inside the engine: `Row` as it comes in, `ActiveRow` while it runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import partial
from math import isfinite
from typing import TypeVar

from torch import Tensor

from seer_core.engine.canvas import Canvas
from seer_core.engine.commit import COMMITS
from seer_core.engine.config import EngineConfig
from seer_core.engine.remasking import REMASKING
from seer_core.engine.sampler import propose, rank
from seer_core.engine.schedule import MAX_SHIFT, SCHEDULES, Schedule, steps_for
from seer_core.engine.transcript import Decode, Transcript
from seer_core.errors import InvalidRequest
from seer_core.layers.attention import KeyValues
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


class ActiveRow:
    """A row that runs. Its options are resolved once, here; raises `InvalidRequest` for those that cannot be.

    `embeddings` [P, D] is the prompt on the model's device; `past` its keys and values, None where the prompt is
    recomputed with every step. `path` is that of its last step, `error` is why it failed.
    """

    def __init__(
        self, row: Row, embeddings: Tensor, *, roles: TokenRoles, decode: Decode, config: EngineConfig
    ) -> None:
        _check(row)
        self.row = row
        self.embeddings = embeddings
        self.past: KeyValues | None = None
        self.block_length = row.decoding.block_length or config.block_length
        schedule = _named("schedule", row.decoding.schedule, SCHEDULES)
        self.canvas = Canvas(
            min(row.forecast.length_tokens, row.sampling.max_tokens),
            roles=roles,
            block_length=self.block_length,
            commit_counts=partial(_commit_counts, row.decoding, schedule),
        )
        self.transcript = Transcript(decode, row.sampling.stop)
        self.steps = 0
        self.regrown = 0
        self.path: Path = "eager"
        self.error: Exception | None = None
        self._mask_id = roles.mask_id
        self._rule = _named("remasking", row.decoding.remasking, REMASKING)
        self._commits = _named("commit", row.decoding.commit, COMMITS)

    @property
    def prompt_tokens(self) -> int:
        return len(self.embeddings)

    def advance(self, logits: Tensor) -> None:
        """Commit the most confident proposals of `logits` [M, V], one per hole of the current block."""
        proposal = propose(logits, mask_id=self._mask_id, sampling=self.row.sampling, rule=self._rule, step=self.steps)
        ranking = rank(proposal.confidence)
        chosen = ranking.order[: self._commits(ranking.confidence, self.canvas.due, self.row.decoding)]
        holes = self.canvas.holes
        self.canvas.commit([holes[i] for i in chosen.tolist()], proposal.tokens[chosen].tolist())
        self.steps += 1

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


def _commit_counts(decoding: Decoding, schedule: Schedule, length: int) -> tuple[int, ...]:
    return schedule(length, steps_for(length, decoding.steps_per_token), decoding.schedule_shift)


def _check(row: Row) -> None:
    sampling, decoding = row.sampling, row.decoding
    for name, value, valid in (
        ("max_tokens", sampling.max_tokens, sampling.max_tokens >= 1),
        ("temperature", sampling.temperature, sampling.temperature >= 0),
        ("top_p", sampling.top_p, 0 < sampling.top_p <= 1),
        ("steps_per_token", decoding.steps_per_token, 0 < decoding.steps_per_token <= 1),
        ("schedule_shift", decoding.schedule_shift, 0 < decoding.schedule_shift <= MAX_SHIFT),
        ("commit_threshold", decoding.commit_threshold, isfinite(decoding.commit_threshold)),
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
