"""Collects single calls into batches for a blocking function in a thread. Plain asyncio; knows nothing of prompts."""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Generic, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


class Batcher(Generic[Item, Result]):
    """One batch at a time; what arrives meanwhile forms the next, so that load makes the batches, not a timer.

    `run` gets up to `max_items` and returns, in order, a result or an exception for each.
    """

    def __init__(self, run: Callable[[Sequence[Item]], Sequence[Result | Exception]], *, max_items: int) -> None:
        self._run = run
        self._max_items = max_items
        self._waiting: list[tuple[Item, asyncio.Future[Result]]] = []
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="batch")
        self._task: asyncio.Task[None] | None = None

    async def call(self, item: Item) -> Result:
        """The item's own result; raises its own exception. Cancelling it drops the item if it still waits."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Result] = loop.create_future()
        self._waiting.append((item, future))
        if self._task is None or self._task.done():
            self._task = loop.create_task(self._drain(), context=contextvars.Context())
        return await future

    async def _drain(self) -> None:
        await asyncio.sleep(0)
        while self._waiting:
            batch = [(item, future) for item, future in self._waiting if not future.done()][: self._max_items]
            taken = {future for _, future in batch}
            self._waiting = [pair for pair in self._waiting if pair[1] not in taken and not pair[1].done()]
            if batch:
                await self._serve(batch)

    async def _serve(self, batch: Sequence[tuple[Item, asyncio.Future[Result]]]) -> None:
        loop = asyncio.get_running_loop()
        results: Sequence[Result | Exception]
        try:
            results = await loop.run_in_executor(self._thread, self._run, [item for item, _ in batch])
        except Exception as error:
            results = [error] * len(batch)
        for (_, future), result in zip(batch, results, strict=True):
            if future.done():
                continue
            if isinstance(result, Exception):
                future.set_exception(result)
            else:
                future.set_result(result)
