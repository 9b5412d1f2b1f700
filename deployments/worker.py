"""The Worker deployment: one engine in one thread, several groups at once. A shim around `EngineThread`.

Imports torch only when a replica is made, and never a vision tower.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Collection, Sequence
from typing import Any

from deployments.engine_thread import EngineThread
from deployments.job import Job
from deployments.metrics import WorkerMetrics
from deployments.parts import Parts
from deployments.prompt_store import prompt_store
from seer_core.errors import PromptLost
from seer_core.prompt import EncodedPrompt
from seer_core.types import Delta

HEARTBEAT_S = 1.0


class Worker:
    """Runs groups of rows and streams, for each group, lists of deltas.

    `frozen_s` is the longest a step may take before the replica counts as sick.
    """

    def __init__(self, parts: Parts, *, max_rows: int, frozen_s: float, local: bool) -> None:
        from seer_core.engine.row import Row

        self._row = Row
        self._max_rows = max_rows
        self._frozen_s = frozen_s
        self._store = prompt_store(local)
        self._metrics = WorkerMetrics()
        self._thread = EngineThread(parts.engine(max_rows))
        self._progress_seen = 0
        self._progress_s = time.monotonic()

    def __del__(self) -> None:
        thread = getattr(self, "_thread", None)
        if thread is not None:
            thread.close()

    def record_replica_metadata(self) -> dict[str, int]:
        """What a router learns of this replica when it starts."""
        return {"max_rows": self._max_rows}

    async def ready(self) -> bool:
        """Whether the engine runs and is not frozen."""
        return self._thread.alive and not self._frozen()

    async def check_health(self) -> None:
        """Raises if the engine's thread ended or stands still."""
        if not await self.ready():
            raise RuntimeError("the engine stands still")

    async def cancel(self, ids: Collection[str]) -> None:
        """Drop these rows, wherever they are. Idempotent."""
        self._thread.cancel(ids)

    async def run(self, jobs: Sequence[Job]) -> AsyncGenerator[list[Delta], None]:
        """Lists of deltas for this group, until its last row ends. An empty list says that the engine still steps."""
        rows, lost = await self._rows(jobs)
        inbox: asyncio.Queue[list[Delta]] = asyncio.Queue()
        loop = asyncio.get_running_loop()

        def deliver(deltas: list[Delta]) -> None:
            loop.call_soon_threadsafe(inbox.put_nowait, deltas)

        left = {job.id for job in jobs}
        self._thread.submit(rows, deliver)
        inbox.put_nowait(lost)
        try:
            while left:
                deltas = await self._next(inbox)
                left.difference_update(delta.id for delta in deltas if delta.last)
                self._count(deltas)
                yield deltas
        finally:
            self._thread.cancel(left)

    async def _rows(self, jobs: Sequence[Job]) -> tuple[list[Any], list[Delta]]:
        """Rows for the engine, and the last deltas of those whose prompt is gone."""
        rows: list[Any] = []
        lost: list[Delta] = []
        for job, prompt in zip(jobs, await self._prompts(jobs), strict=True):
            if isinstance(prompt, PromptLost):
                lost.append(Delta(id=job.id, text="", error=prompt))
                continue
            forecast, sampling, decoding = job.probed.forecast, job.sampling, job.decoding
            rows.append(self._row(id=job.id, prompt=prompt, forecast=forecast, sampling=sampling, decoding=decoding))
        return rows, lost

    async def _prompts(self, jobs: Sequence[Job]) -> list[EncodedPrompt | PromptLost]:
        return list(await asyncio.gather(*(self._prompt(job) for job in jobs)))

    async def _prompt(self, job: Job) -> EncodedPrompt | PromptLost:
        try:
            return await self._store.get(job.probed.prompt_ref)
        except PromptLost as error:
            return error

    async def _next(self, inbox: asyncio.Queue[list[Delta]]) -> list[Delta]:
        """All that has arrived, joined; nothing after a heartbeat. Silent while the engine is frozen."""
        while True:
            try:
                deltas = list(await asyncio.wait_for(inbox.get(), HEARTBEAT_S))
            except TimeoutError:
                if self._frozen():
                    continue
                return []
            while not inbox.empty():
                deltas += inbox.get_nowait()
            return deltas

    def _frozen(self) -> bool:
        now = time.monotonic()
        if self._thread.progress != self._progress_seen or self._thread.rows == 0:
            self._progress_seen, self._progress_s = self._thread.progress, now
        return now - self._progress_s > self._frozen_s

    def _count(self, deltas: Sequence[Delta]) -> None:
        for delta in deltas:
            if delta.outcome is not None:
                self._metrics.finished(steps=delta.outcome.steps, regrown=delta.outcome.regrown)
