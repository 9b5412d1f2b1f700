"""Calls between deployments with their failures in our words: a dead replica is ReplicaLost, whatever Ray calls it.

Waits with `asyncio.wait`, which leaves the awaited call alone: cancelling a Serve call from outside ends it with an
error of Serve's own, and neither `asyncio.timeout` nor `wait_for` would know it again.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable
from typing import Any

from seer_core.errors import BudgetExceeded, NotReady, QueueFull, ReplicaLost, SeerError


async def answer(response: Any, timeout_s: float) -> Any:
    """Await a DeploymentResponse. Raises a SeerError; BudgetExceeded after `timeout_s`. Cancels what nobody awaits."""
    finished = False
    try:
        done, result = await _within(response, timeout_s)
        finished = done
    finally:
        if not finished:
            response.cancel()
    if not finished:
        raise BudgetExceeded("the request's time budget ran out", field="budget_s")
    return _value(result)


async def items(generator: Any, timeout_s: float) -> AsyncGenerator[Any, None]:
    """The items of a DeploymentResponseGenerator.

    Raises a SeerError; ReplicaLost if no item comes for `timeout_s`. Closing this iterator cancels the call.
    """
    finished = False
    try:
        while True:
            done, result = await _within(anext(generator), timeout_s)
            if not done:
                raise ReplicaLost(f"the replica said nothing for {timeout_s:.0f} s")
            finished = isinstance(result, Exception)
            if isinstance(result, StopAsyncIteration):
                return
            yield _value(result)
    finally:
        if not finished:
            generator.cancel()


async def _within(call: Awaitable[Any], timeout_s: float) -> tuple[bool, Any]:
    """Whether the call ended in time, and its value or exception."""
    task = asyncio.ensure_future(_outcome(call))
    try:
        await asyncio.wait({task}, timeout=max(0.0, timeout_s))
        return task.done(), task.result() if task.done() else None
    finally:
        task.cancel()


async def _outcome(call: Awaitable[Any]) -> Any:
    try:
        return await call
    except Exception as error:
        return error


def _value(result: Any) -> Any:
    if isinstance(result, Exception):
        raise translated(result) from result
    return result


def translated(error: Exception) -> Exception:
    """The SeerError behind a failed call; any other error is returned as it is."""
    cause = getattr(error, "cause", None)
    for candidate in (cause, error):
        known = _known(candidate)
        if known is not None:
            return known
    return error


def _known(error: object) -> SeerError | None:
    from grpc.aio import AioRpcError
    from ray.exceptions import RayActorError
    from ray.serve.exceptions import BackPressureError, DeploymentUnavailableError, ReplicaUnavailableError

    if isinstance(error, BackPressureError):
        return QueueFull("the service holds as many requests as it may")
    if isinstance(error, DeploymentUnavailableError):
        return NotReady("a part of the service is not running")
    if isinstance(error, (RayActorError, ReplicaUnavailableError, AioRpcError)):
        return ReplicaLost("the replica that ran the request died")
    return error if isinstance(error, SeerError) else None
