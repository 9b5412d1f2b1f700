"""Tickets for the tests of the routing policy."""

from __future__ import annotations

from seer_core.types import Ticket


def ticket(
    number: int | str, forecast_tokens: int = 8, *, deadline_s: float = 100.0, priority: int = 0, density: float = 1.0
) -> Ticket:
    return Ticket(
        id=str(number),
        prompt_tokens=10,
        forecast_tokens=forecast_tokens,
        canvas_tokens=max(64, forecast_tokens),
        steps_per_token=density,
        deadline_s=deadline_s,
        priority=priority,
    )
