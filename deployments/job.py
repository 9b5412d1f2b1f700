"""The records that travel between the deployments. `prompt_ref` is opaque: only a PromptStore reads it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from seer_core.prompt import Prompt
from seer_core.types import Decoding, Forecast, Sampling, Ticket


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeJob:
    """What the Probe needs of a request."""

    prompt: Prompt
    canvas_tokens: int
    decoding: Decoding


@dataclass(frozen=True, slots=True, kw_only=True)
class Probed:
    """The Probe's answer: the forecast, and where the prompt embeddings are kept."""

    forecast: Forecast
    prompt_ref: Any
    prompt_tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One try at a request, as Router and Worker see it.

    `id` is the request's id and the number of the try, so that a cancelled try can never hit its successor.
    `budget_s` is what is left of the caller's budget when the job is sent.
    """

    id: str
    probed: Probed
    sampling: Sampling
    decoding: Decoding
    priority: int
    budget_s: float

    def ticket(self, now_s: float) -> Ticket:
        """The job as the routing policy sees it, its deadline on the caller's clock."""
        return Ticket(
            id=self.id,
            prompt_tokens=self.probed.prompt_tokens,
            forecast_tokens=self.probed.forecast.length_tokens,
            canvas_tokens=self.sampling.max_tokens,
            steps_per_token=self.decoding.steps_per_token,
            deadline_s=now_s + self.budget_s,
            priority=self.priority,
        )
