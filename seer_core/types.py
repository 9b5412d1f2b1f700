"""The values that flow between the parts: plain frozen records, no tensors, no behaviour worth a test of its own.

Units are in the names. Lengths are in tokens, clocks are the receiver's own (a request carries the seconds it has
left, never a time of day).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

Role = Literal["system", "user", "assistant"]
FinishReason = Literal["stop", "length"]
Path = Literal["static", "varlen", "eager"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One turn of the conversation. `images` are encoded image files, in the order they appear before the text."""

    role: Role
    text: str
    images: tuple[bytes, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Sampling:
    """What the caller wants of the answer. `max_tokens` is the canvas length N of an untruncated run."""

    max_tokens: int = 64
    temperature: float = 0.0
    top_p: float = 1.0
    seed: int = 0
    stop: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Decoding:
    """How the canvas is denoised.

    `detector` None means the profile's default. `block_length` None means the family's default.
    `steps_per_token` is T/N: 1.0 commits one token a step, 0.5 two. `commit` says whether a step commits just those
    ("schedule"), or also every token at least `commit_threshold` sure ("threshold") or the run of n that keeps
    (n + 1) * (1 - confidence) below `commit_factor` ("factor"); T is then an upper bound. `cache` "exact" computes
    whatever may have changed; "fastdllm_prefix" and "fastdllm_dual" are approximations that compute less (see
    `engine/cache.py`). A `guidance_scale` above 0 runs the row a second time without its prompt and pushes its logits
    that much further away from what it finds there. `early_exit` ends a row once its answer is complete, although fill
    behind the end token is still masked; the answer is the same either way.
    """

    detector: str | None = None
    truncate: bool = True
    steps_per_token: float = 1.0
    block_length: int | None = None
    remasking: str = "low_confidence"
    schedule: str = "even"
    schedule_shift: float = 3.0
    commit: str = "schedule"
    commit_threshold: float = 0.9
    commit_factor: float = 1.0
    cache: str = "exact"
    guidance_scale: float = 0.0
    early_exit: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class GenerationRequest:
    """What the caller asked, validated. `id` is the same over every retry."""

    id: str
    messages: tuple[Message, ...]
    sampling: Sampling = field(default_factory=Sampling)
    decoding: Decoding = field(default_factory=Decoding)
    priority: int = 0
    budget_s: float = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Forecast:
    """Where the detector sees the answer end.

    `length_tokens` is L*, the canvas the worker starts with; `boundary` is i*, the predicted slot of the first end
    token, or None where nothing was detected (then `length_tokens` is the whole canvas and `fallback` is true).
    `jump`, `noise`, `snr` are those of seer-paper section 2 at the boundary; `score` is the detector's own.
    """

    length_tokens: int
    canvas_tokens: int
    boundary: int | None
    detector: str
    score: float
    jump: float
    noise: float
    snr: float
    fallback: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Real tokens only: no padding, no fill, no end token."""

    prompt_tokens: int
    completion_tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How one request ended. `kept_tokens` is the final canvas length, `regrown` how often it was extended."""

    text: str
    tokens: tuple[int, ...]
    finish_reason: FinishReason
    forecast_tokens: int
    canvas_tokens: int
    kept_tokens: int
    steps: int
    regrown: int
    usage: Usage
    path: Path
    detector: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Delta:
    """Text that became final since the last delta of this request. The last one carries the outcome or the error."""

    id: str
    text: str
    outcome: Outcome | None = None
    error: Exception | None = None

    @property
    def last(self) -> bool:
        return self.outcome is not None or self.error is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class Ticket:
    """A request waiting in the router. `deadline_s` is on the router's own clock. Higher `priority` goes first."""

    id: str
    prompt_tokens: int
    forecast_tokens: int
    canvas_tokens: int
    steps_per_token: float
    deadline_s: float
    priority: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Tickets chosen to run together, all of one bucket (`bucket_tokens` is its upper end)."""

    bucket_tokens: int
    tickets: tuple[Ticket, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenRoles:
    """The ids that steer generation, read from the checkpoint.

    `mask_id` stands for a hole and never appears in an output; `fill_id` pads behind the answer; `end_ids` all end an
    answer (turn end and fill).
    """

    mask_id: int
    fill_id: int
    end_ids: frozenset[int]
