"""Slots and rows: the two ways to reach workers count alike."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from types import SimpleNamespace
from typing import Any

import pytest
from ray.serve._private.common import DeploymentID
from ray.serve.exceptions import DeploymentUnavailableError

from deployments.dispatcher import LocalDispatcher, RowLedger, ServeDispatcher
from deployments.job import Job
from seer_core.errors import ReplicaLost
from seer_core.types import Delta
from tests.unit.deployments.jobs import ended, job


class Stream:
    """What a streaming handle call returns."""

    def __init__(self, parcels: list[list[Delta] | Exception]) -> None:
        self.parcels = parcels

    def __aiter__(self) -> AsyncIterator[Any]:
        return self

    async def __anext__(self) -> Any:
        if not self.parcels:
            raise StopAsyncIteration
        parcel = self.parcels.pop(0)
        if isinstance(parcel, Exception):
            raise parcel
        return parcel

    def cancel(self) -> None: ...


class Answers:
    """What a broadcast returns."""

    def __init__(self, *answers: Any) -> None:
        self.answers = list(answers)

    async def results_async(self, **_: Any) -> list[Any]:
        return self.answers


def unavailable(*_: Any) -> Answers:
    raise DeploymentUnavailableError(DeploymentID(name="Worker", app_name="seer"))


class Handle:
    """A DeploymentHandle of workers that do as they are told."""

    def __init__(self, *parcels: list[Delta] | Exception) -> None:
        self.parcels = list(parcels)
        self.open = 0
        self.told: list[tuple[str, Any]] = []
        self.answers: list[Any] = []
        self.remote = self.send

    def options(self, **_: Any) -> Handle:
        return self

    @asynccontextmanager
    async def choose_replica(self) -> AsyncIterator[Any]:
        self.open += 1
        yield SimpleNamespace(replica_id="w1", replica_metadata={"max_rows": 4})
        self.open -= 1

    def dispatch(self, selection: Any, jobs: list[Job]) -> Stream:
        assert selection.replica_id == "w1"
        return self.send(jobs)

    def send(self, jobs: list[Job]) -> Stream:
        self.told.append(("run", [one.id for one in jobs]))
        return Stream(self.parcels)

    def broadcast(self, method: str, *arguments: Any) -> Answers:
        self.told.append((method, *arguments))
        return Answers(*self.answers)


def dispatcher(kind: str, handle: Handle) -> Any:
    if kind == "local":
        return LocalDispatcher(handle, max_rows=4, stall_s=5.0)
    return ServeDispatcher(handle, stall_s=5.0)


@pytest.mark.parametrize("kind", ["serve", "local"])
async def test_rows_are_taken_by_a_group_and_freed_one_by_one(kind: str) -> None:
    handle = Handle([Delta(id="a", text="x")], [ended("a")], [ended("b"), ended("c")])
    ways = dispatcher(kind, handle)
    free = []
    async with ways.slot() as slot:
        assert slot.free_rows == 4
        async for _ in slot.run([job("a"), job("b"), job("c")]):
            free.append(slot.free_rows)
    assert free == [1, 2, 4]
    assert handle.told == [("run", ["a", "b", "c"])]


@pytest.mark.parametrize("kind", ["serve", "local"])
async def test_a_lost_worker_gives_its_rows_back(kind: str) -> None:
    ways = dispatcher(kind, Handle([ended("a")], ReplicaLost("died")))
    async with ways.slot() as slot:
        with pytest.raises(ReplicaLost):
            async for _ in slot.run([job("a"), job("b")]):
                pass
        assert slot.free_rows == 4


async def test_a_cancel_reaches_every_worker() -> None:
    handle = Handle()
    await ServeDispatcher(handle, stall_s=5.0).cancel({"a"})
    assert handle.told == [("cancel", ["a"])]


@pytest.mark.parametrize(("answers", "ready"), [([], False), ([RuntimeError("sick"), True], True), ([False], False)])
async def test_one_warm_worker_is_enough(answers: list[Any], ready: bool) -> None:
    handle = Handle()
    handle.answers = answers
    assert await ServeDispatcher(handle, stall_s=5.0).ready() is ready


async def test_workers_that_are_not_deployed_yet_are_not_ready() -> None:
    handle = Handle()
    handle.broadcast = unavailable  # type: ignore[assignment,method-assign]
    assert await ServeDispatcher(handle, stall_s=5.0).ready() is False


async def test_waiting_for_a_free_row_ends_when_one_is_freed_or_after_a_while() -> None:
    ledger = RowLedger()
    ledger.take("w1", 2)
    await ledger.freed(0.01)
    waiting = asyncio.ensure_future(ledger.freed(60.0))
    await asyncio.sleep(0)
    ledger.free("w1", 1)
    await asyncio.wait_for(waiting, 5.0)
    assert ledger.running("w1") == 1
