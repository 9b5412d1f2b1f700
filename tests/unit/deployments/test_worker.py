"""One worker, several groups: lists of deltas for each, and an end for every row."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence

import pytest

from deployments import worker as module
from deployments.job import Job
from deployments.worker import Worker
from seer_core.errors import EngineError, PromptLost
from seer_core.prompt import EncodedPrompt
from seer_core.types import Delta
from tests.scripted import ScriptedParts
from tests.unit.deployments.jobs import job, soon


class LossyStore:
    """Has lost what says so."""

    def put(self, prompt: EncodedPrompt) -> EncodedPrompt:
        return prompt

    async def get(self, ref: EncodedPrompt) -> EncodedPrompt:
        if "LOST" in str(ref):
            raise PromptLost("gone")
        return ref


@pytest.fixture
async def worker(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Worker]:
    monkeypatch.setattr(module, "prompt_store", lambda local: LossyStore())
    monkeypatch.setattr(module, "HEARTBEAT_S", 0.05)
    worker = Worker(ScriptedParts(step_s=0.005), max_rows=2, frozen_s=0.2, local=True)
    yield worker
    worker.__del__()


async def run(worker: Worker, *jobs: Job) -> dict[str, list[Delta]]:
    rows: dict[str, list[Delta]] = {}
    async for deltas in worker.run(jobs):
        for delta in deltas:
            rows.setdefault(delta.id, []).append(delta)
    return rows


def said(deltas: Sequence[Delta]) -> str:
    return "".join(delta.text for delta in deltas)


async def test_groups_share_the_engine_and_keep_their_own_rows(worker: Worker) -> None:
    texts = {"a": "one two", "b": "three four five", "c": "six", "d": "seven eight"}
    jobs = {name: job(name, text=text) for name, text in texts.items()}
    first, second = await asyncio.gather(run(worker, jobs["a"], jobs["b"]), run(worker, jobs["c"], jobs["d"]))
    assert {name: said(deltas) for name, deltas in (first | second).items()} == texts
    assert (set(first), set(second)) == ({"a", "b"}, {"c", "d"})


async def test_a_lost_prompt_ends_only_its_row(worker: Worker) -> None:
    rows = await run(worker, job("lost", text="LOST"), job("fine", text="all fine"))
    assert isinstance(rows["lost"][-1].error, PromptLost)
    assert said(rows["fine"]) == "all fine"


async def test_a_group_ends_when_all_its_rows_are_cancelled(worker: Worker) -> None:
    running = asyncio.ensure_future(run(worker, job("a", 60), job("b", 60)))
    await asyncio.sleep(0.03)
    await worker.cancel(["a", "b"])
    rows = await asyncio.wait_for(running, 5.0)
    assert all(isinstance(deltas[-1].error, EngineError) for deltas in rows.values())


async def test_a_group_nobody_reads_frees_its_rows(worker: Worker) -> None:
    deltas = worker.run([job("a", 60)])
    await anext(deltas)
    await deltas.aclose()
    await soon(lambda: worker._thread.rows == 0)


async def test_a_slow_engine_sends_heartbeats_and_a_frozen_one_does_not(worker: Worker) -> None:
    deltas = worker.run([job("slow", text="now FREEZE")])
    heard = [await anext(deltas) for _ in range(2)]
    assert said([delta for parcel in heard for delta in parcel]) == "now"
    silence = asyncio.ensure_future(_until_silent(deltas))
    await asyncio.wait({silence}, timeout=1.0)
    assert not silence.done()
    assert not await worker.ready()
    with pytest.raises(RuntimeError, match="stands still"):
        await worker.check_health()
    silence.cancel()


async def _until_silent(deltas: AsyncIterator[list[Delta]]) -> None:
    """Reads heartbeats for as long as they come."""
    async for parcel in deltas:
        assert parcel == []


async def test_an_idle_worker_is_ready_and_tells_its_size(worker: Worker) -> None:
    await worker.check_health()
    assert worker.record_replica_metadata() == {"max_rows": 2}
