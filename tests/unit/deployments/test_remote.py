"""Failures of calls between deployments, in our words."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Generator
from contextlib import aclosing
from typing import Any

import pytest
from ray.exceptions import ActorDiedError, RayTaskError
from ray.serve.exceptions import BackPressureError, RequestCancelledError

from deployments import remote
from seer_core.errors import BudgetExceeded, InvalidRequest, QueueFull, ReplicaLost


class Response:
    """A DeploymentResponse or its generator: items, then perhaps an error, or silence."""

    def __init__(self, *items: Any, silent: bool = False) -> None:
        self.left = list(items)
        self.silent = silent
        self.cancelled = False

    def __await__(self) -> Generator[Any, None, Any]:
        return self.__anext__().__await__()

    def __aiter__(self) -> AsyncIterator[Any]:
        return self

    async def __anext__(self) -> Any:
        if not self.left and self.silent:
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError as error:
                raise RequestCancelledError("r") from error
        if not self.left:
            raise StopAsyncIteration
        item = self.left.pop(0)
        if isinstance(item, Exception):
            raise item
        return item

    def cancel(self) -> None:
        self.cancelled = True


async def collected(response: Response, timeout_s: float = 5.0) -> list[Any]:
    return [item async for item in remote.items(response, timeout_s)]


async def test_a_value_and_items_pass_through() -> None:
    response = Response(7)
    assert await remote.answer(response, 5.0) == 7
    assert await collected(Response(1, 2)) == [1, 2]
    assert not response.cancelled


async def test_an_answer_that_is_too_late_is_cancelled_and_over_budget() -> None:
    response = Response(silent=True)
    with pytest.raises(BudgetExceeded):
        await remote.answer(response, 0.02)
    assert response.cancelled


async def test_a_silent_stream_is_a_lost_replica() -> None:
    response = Response(1, silent=True)
    with pytest.raises(ReplicaLost):
        await collected(response, 0.02)
    assert response.cancelled


async def test_a_caller_that_leaves_cancels_the_call() -> None:
    response = Response(silent=True)
    task = asyncio.ensure_future(remote.answer(response, 60.0))
    await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert response.cancelled


async def test_a_stream_left_early_is_cancelled() -> None:
    response = Response(1, 2)
    async with aclosing(remote.items(response, 5.0)) as items:
        assert await anext(items) == 1
    assert response.cancelled


@pytest.mark.parametrize(
    ("raised", "expected"),
    [
        (ActorDiedError(), ReplicaLost),
        (RayTaskError("f", "", InvalidRequest("no", field="n")), InvalidRequest),
        (RayTaskError("f", "", ActorDiedError()), ReplicaLost),
        (BackPressureError(num_queued_requests=1, max_queued_requests=1), QueueFull),
        (InvalidRequest("no"), InvalidRequest),
        (ValueError("theirs"), ValueError),
    ],
)
async def test_a_failure_is_told_in_our_words(raised: Exception, expected: type[Exception]) -> None:
    with pytest.raises(expected):
        await remote.answer(Response(raised), 5.0)
    with pytest.raises(expected):
        await collected(Response(raised))
