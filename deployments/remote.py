"""Calls between deployments with their failures in our words: a dead replica is ReplicaLost, whatever Ray calls it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from typing import Any

from seer_core.errors import BudgetExceeded, NotReady, QueueFull, ReplicaLost, SeerError


async def answer(response: Any, timeout_s: float) -> Any:
    """Await a DeploymentResponse. Raises a SeerError; BudgetExceeded after `timeout_s`."""
    try:
        async with asyncio.timeout(max(0.0, timeout_s)):
            return await response
    except TimeoutError as error:
        response.cancel()
        raise BudgetExceeded("the request's time budget ran out", field="budget_s") from error
    except Exception as error:
        raise translated(error) from error


async def items(generator: Any, timeout_s: float | None = None) -> AsyncGenerator[Any, None]:
    """The items of a DeploymentResponseGenerator.

    Raises a SeerError; ReplicaLost if no item comes for `timeout_s`. Closing this iterator cancels the call.
    """
    finished = False
    try:
        while True:
            try:
                item = await asyncio.wait_for(anext(generator), timeout_s)
            except StopAsyncIteration:
                finished = True
                return
            except TimeoutError as error:
                raise ReplicaLost(f"the replica said nothing for {timeout_s} s") from error
            except Exception as error:
                raise translated(error) from error
            yield item
    finally:
        if not finished:
            generator.cancel()


def translated(error: Exception) -> Exception:
    """The SeerError behind a failed call; any other error is returned as it is."""
    from ray.exceptions import RayActorError
    from ray.serve.exceptions import BackPressureError, DeploymentUnavailableError, ReplicaUnavailableError

    cause = getattr(error, "cause", None)
    for candidate in (cause, error):
        if isinstance(candidate, SeerError):
            return candidate
        if isinstance(candidate, BackPressureError):
            return QueueFull("the service holds as many requests as it may")
        if isinstance(candidate, DeploymentUnavailableError):
            return NotReady("a part of the service is not running")
        if isinstance(candidate, (RayActorError, ReplicaUnavailableError)) or _broken_channel(candidate):
            return ReplicaLost("the replica that ran the request died")
    return error


def _broken_channel(error: object) -> bool:
    from grpc.aio import AioRpcError

    return isinstance(error, AioRpcError)
