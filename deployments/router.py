"""The Router deployment: a shim that gives the switchboard a clock and the handle of the workers. Imports no torch."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any

from deployments.dispatcher import Dispatcher, LocalDispatcher, ServeDispatcher
from deployments.job import Job
from deployments.metrics import RouterMetrics
from deployments.switchboard import Switchboard
from deployments.work_meter import WorkMeter
from seer_core.router import Router as Policy
from seer_core.router import RouterConfig
from seer_core.types import Delta


class Router:
    """Holds the queues. `stall_s` is the longest silence of a live worker, `drain_s` how fast work should be done."""

    def __init__(
        self, worker: Any, config: RouterConfig, *, max_rows: int, stall_s: float, drain_s: float, local: bool
    ) -> None:
        self._dispatcher: Dispatcher = (
            LocalDispatcher(worker, max_rows=max_rows, stall_s=stall_s)
            if local
            else ServeDispatcher(worker, stall_s=stall_s)
        )
        self._drain_s = drain_s
        self._switchboard = Switchboard(
            Policy(config),
            self._dispatcher,
            clock=time.monotonic,
            meter=WorkMeter(max_rows=max_rows),
            metrics=RouterMetrics(),
        )

    async def submit(self, job: Job) -> AsyncGenerator[Delta, None]:
        """The deltas of one job; the last one carries the outcome or the error."""
        async with aclosing(self._switchboard.submit(job)) as deltas:
            async for delta in deltas:
                yield delta

    async def ready(self) -> bool:
        """Whether at least one worker is warm."""
        return await self._dispatcher.ready()

    def record_autoscaling_stats(self) -> dict[str, float]:
        """What the autoscaling policy reads."""
        return {"wanted_workers": self._switchboard.wanted_workers(self._drain_s)}
