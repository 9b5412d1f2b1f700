"""Predicted work and the measured rate of a worker: how many workers the waiting and running requests are worth."""

from __future__ import annotations

from seer_core.types import Outcome

SMOOTHING = 0.2


class WorkMeter:
    """Turns denoising steps into seconds.

    A row's rate is an exponential average over finished rows, so `drain_s` is a forecast, not a promise.
    """

    def __init__(self, *, max_rows: int, steps_per_s: float = 50.0) -> None:
        self._max_rows = max_rows
        self._steps_per_s = steps_per_s

    def finished(self, outcome: Outcome, seconds: float) -> None:
        """Learn from one row that took `seconds` in its worker."""
        if outcome.steps > 0 and seconds > 0:
            self._steps_per_s += SMOOTHING * (outcome.steps / seconds - self._steps_per_s)

    def wanted_workers(self, work_steps: float, drain_s: float) -> float:
        """Workers that would do `work_steps` in `drain_s` seconds, each with all its rows busy."""
        return work_steps / (self._steps_per_s * self._max_rows * drain_s)
