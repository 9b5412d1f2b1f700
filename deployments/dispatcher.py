"""How a router reaches workers: reserve a slot first, see its free rows, then send a whole group into it.

Two implementations of one interface: Serve's replica selection, and a plain handle for Ray's local testing mode, where
replica selection does not exist.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Collection, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from typing import Any, Protocol

from ray.serve.exceptions import DeploymentUnavailableError

from deployments import remote
from deployments.job import Job
from seer_core.types import Delta

ROOM_POLL_S = 0.5


class Slot(Protocol):
    """A reserved place for one group in one worker. `free_rows` may be 0: then nothing can be sent."""

    @property
    def free_rows(self) -> int: ...

    def run(self, jobs: Sequence[Job]) -> AsyncIterator[list[Delta]]:
        """Send the group; yields what became final for all its members, step by step. Raises SeerError.

        Ends with the last row. A worker that says nothing for too long is ReplicaLost.
        """


class Dispatcher(Protocol):
    """The router's view of all workers."""

    def slot(self) -> AbstractAsyncContextManager[Slot]:
        """Wait for a worker that takes one more group; leaving the context without a run gives the slot back."""

    async def room(self) -> None:
        """Return when it is worth looking for a free row again."""

    async def cancel(self, ids: Collection[str]) -> None:
        """Tell every worker to drop these rows. Idempotent."""

    async def ready(self) -> bool:
        """Whether at least one worker is warm."""


class RowLedger:
    """Rows this router has running, by worker."""

    def __init__(self) -> None:
        self._running: Counter[str] = Counter()
        self._freed = asyncio.Event()

    def running(self, worker_id: str) -> int:
        return self._running[worker_id]

    def take(self, worker_id: str, rows: int) -> None:
        self._running[worker_id] += rows

    def free(self, worker_id: str, rows: int) -> None:
        self._running[worker_id] -= rows
        if self._running[worker_id] <= 0:
            del self._running[worker_id]
        self._freed.set()

    async def freed(self, timeout_s: float) -> None:
        """Return when a row becomes free, or after `timeout_s`: a worker that is new frees none."""
        self._freed.clear()
        with suppress(TimeoutError):
            await asyncio.wait_for(self._freed.wait(), timeout_s)


class WorkerSlot:
    """A slot whose free rows are the worker's capacity less what the ledger has running there."""

    def __init__(self, worker_id: str, max_rows: int, ledger: RowLedger, send: Any, stall_s: float) -> None:
        self._worker_id = worker_id
        self._max_rows = max_rows
        self._ledger = ledger
        self._send = send
        self._stall_s = stall_s

    @property
    def free_rows(self) -> int:
        return max(0, self._max_rows - self._ledger.running(self._worker_id))

    async def run(self, jobs: Sequence[Job]) -> AsyncIterator[list[Delta]]:
        left = len(jobs)
        self._ledger.take(self._worker_id, left)
        try:
            async for deltas in remote.items(self._send(list(jobs)), self._stall_s):
                ended = sum(delta.last for delta in deltas)
                left -= ended
                self._ledger.free(self._worker_id, ended)
                yield deltas
        finally:
            self._ledger.free(self._worker_id, left)


class ServeDispatcher:
    """Workers behind a DeploymentHandle of a running cluster. `stall_s` is the longest silence of a live worker."""

    def __init__(self, worker: Any, *, stall_s: float) -> None:
        self._worker = worker
        self._run = worker.options(method_name="run", stream=True)
        self._ledger = RowLedger()
        self._stall_s = stall_s

    @asynccontextmanager
    async def slot(self) -> AsyncIterator[Slot]:
        async with self._run.choose_replica() as selection:
            rows = int(selection.replica_metadata["max_rows"])

            def send(jobs: list[Job]) -> Any:
                return self._run.dispatch(selection, jobs)

            yield WorkerSlot(selection.replica_id, rows, self._ledger, send, self._stall_s)

    async def room(self) -> None:
        await self._ledger.freed(ROOM_POLL_S)

    async def cancel(self, ids: Collection[str]) -> None:
        await self._worker.broadcast("cancel", list(ids)).results_async(timeout_s=5.0, return_exceptions=True)

    async def ready(self) -> bool:
        try:
            answers = await self._worker.broadcast("ready").results_async(timeout_s=2.0, return_exceptions=True)
        except (DeploymentUnavailableError, TimeoutError):
            return False
        return any(answer is True for answer in answers)


class LocalDispatcher:
    """One worker behind a plain handle; a slot is always at hand, its rows are not."""

    def __init__(self, worker: Any, *, max_rows: int, stall_s: float) -> None:
        self._worker = worker
        self._max_rows = max_rows
        self._stall_s = stall_s
        self._ledger = RowLedger()

    @asynccontextmanager
    async def slot(self) -> AsyncIterator[Slot]:
        send = self._worker.options(method_name="run", stream=True).remote
        yield WorkerSlot("local", self._max_rows, self._ledger, send, self._stall_s)

    async def room(self) -> None:
        await self._ledger.freed(ROOM_POLL_S)

    async def cancel(self, ids: Collection[str]) -> None:
        await self._worker.cancel.remote(list(ids))

    async def ready(self) -> bool:
        return bool(await self._worker.ready.remote())
