"""Members in, groups out, every member its own deltas and exactly one last one."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing

from deployments.job import Job
from deployments.metrics import RouterMetrics
from deployments.switchboard import Switchboard
from deployments.work_meter import WorkMeter
from seer_core.errors import BudgetExceeded, EngineError, QueueFull, ReplicaLost
from seer_core.router import Router, RouterConfig
from seer_core.types import Delta
from tests.unit.deployments.jobs import Script, ScriptedDispatcher, all_of, ended, gathered, job, soon


async def answers(jobs: Sequence[Job]) -> AsyncGenerator[list[Delta], None]:
    yield [Delta(id=one.id, text="par") for one in jobs]
    for one in jobs:
        yield [ended(one.id, f"t {one.id}")]


async def dies(jobs: Sequence[Job]) -> AsyncGenerator[list[Delta], None]:
    yield [Delta(id=jobs[0].id, text="some")]
    raise ReplicaLost("gone")


async def hangs(jobs: Sequence[Job]) -> AsyncGenerator[list[Delta], None]:
    await asyncio.Event().wait()
    yield []


async def forgets(jobs: Sequence[Job]) -> AsyncGenerator[list[Delta], None]:
    yield [ended(jobs[0].id)]


def switchboard(script: Script, *, rows: int = 4, max_waiting: int = 64) -> tuple[Switchboard, ScriptedDispatcher]:
    dispatcher = ScriptedDispatcher(script, rows=rows)
    board = Switchboard(
        Router(RouterConfig(max_waiting=max_waiting)),
        dispatcher,
        clock=time.monotonic,
        meter=WorkMeter(max_rows=4),
        metrics=RouterMetrics(),
    )
    return board, dispatcher


async def test_a_member_reads_its_own_text_and_its_outcome() -> None:
    board, dispatcher = switchboard(answers)
    deltas = await all_of(board.submit(job("a")))
    assert [delta.text for delta in deltas] == ["par", "t a"]
    assert deltas[-1].last
    assert dispatcher.open_slots == 0


async def test_groups_are_formed_late_and_of_one_bucket() -> None:
    board, dispatcher = switchboard(answers)
    dispatcher.gate.clear()
    runs = [asyncio.ensure_future(all_of(board.submit(job(i, words=3 if i % 2 else 30)))) for i in range(8)]
    await soon(lambda: board.work_steps > 100)
    dispatcher.gate.set()
    ends = await gathered(*runs)
    assert sorted(sorted(group) for group in dispatcher.groups) == [["0", "2", "4", "6"], ["1", "3", "5", "7"]]
    assert all(sum(delta.last for delta in deltas) == 1 for deltas in ends)


async def test_a_dead_worker_is_an_answer_for_every_member() -> None:
    board, dispatcher = switchboard(dies)
    dispatcher.gate.clear()
    runs = [asyncio.ensure_future(all_of(board.submit(job(i)))) for i in range(3)]
    await soon(lambda: board.work_steps >= 9)
    dispatcher.gate.set()
    for deltas in await gathered(*runs):
        assert isinstance(deltas[-1].error, ReplicaLost)
    assert sorted(dispatcher.cancelled) == ["0", "1", "2"]


async def test_a_worker_that_forgets_a_member_does_not_leave_it_hanging() -> None:
    board, dispatcher = switchboard(forgets)
    dispatcher.gate.clear()
    runs = [asyncio.ensure_future(all_of(board.submit(job(i)))) for i in range(2)]
    await soon(lambda: board.work_steps >= 6)
    dispatcher.gate.set()
    first, second = await gathered(*runs)
    assert first[-1].outcome is not None
    assert isinstance(second[-1].error, EngineError)


async def test_a_full_queue_is_told_at_once() -> None:
    board, dispatcher = switchboard(answers, max_waiting=1)
    dispatcher.gate.clear()
    waiting = asyncio.ensure_future(all_of(board.submit(job("first"))))
    await soon(lambda: board.work_steps > 0)
    (refused,) = await all_of(board.submit(job("second")))
    assert isinstance(refused.error, QueueFull)
    dispatcher.gate.set()
    assert (await waiting)[-1].outcome is not None


async def test_a_budget_runs_out_in_the_queue() -> None:
    board, dispatcher = switchboard(answers)
    dispatcher.gate.clear()
    (late,) = await all_of(board.submit(job("late", budget_s=0.05)))
    assert isinstance(late.error, BudgetExceeded)
    assert board.work_steps == 0


async def test_a_budget_that_runs_out_in_the_worker_frees_its_row() -> None:
    board, dispatcher = switchboard(hangs)
    deltas = await all_of(board.submit(job("slow", budget_s=0.05)))
    assert isinstance(deltas[-1].error, BudgetExceeded)
    await soon(lambda: dispatcher.cancelled == ["slow"])


async def test_a_caller_that_leaves_the_queue_never_reaches_a_worker() -> None:
    board, dispatcher = switchboard(answers)
    dispatcher.gate.clear()
    leaving = asyncio.ensure_future(all_of(board.submit(job("leaves"))))
    staying = asyncio.ensure_future(all_of(board.submit(job("stays"))))
    await soon(lambda: board.work_steps >= 6)
    leaving.cancel()
    await asyncio.wait({leaving})
    dispatcher.gate.set()
    await staying
    assert dispatcher.groups == [["stays"]]
    assert dispatcher.cancelled == []


async def test_a_caller_that_leaves_while_running_cancels_only_its_row() -> None:
    board, dispatcher = switchboard(hangs)
    leaving = asyncio.ensure_future(all_of(board.submit(job("leaves"))))
    await soon(lambda: len(dispatcher.groups) == 1)
    leaving.cancel()
    await soon(lambda: dispatcher.cancelled == ["leaves"])


async def test_the_feeder_outlives_the_request_that_woke_it() -> None:
    board, _ = switchboard(answers)
    async with aclosing(board.submit(job("first"))) as deltas:
        await anext(deltas)
    assert (await all_of(board.submit(job("second"))))[-1].outcome is not None


async def test_no_free_row_means_waiting_and_not_losing() -> None:
    board, dispatcher = switchboard(answers, rows=0)
    run = asyncio.ensure_future(all_of(board.submit(job("a"))))
    await soon(lambda: board.work_steps > 0)
    await asyncio.sleep(0.05)
    assert dispatcher.groups == []
    dispatcher.free_rows = 1
    assert (await run)[-1].outcome is not None


async def test_workers_are_wanted_in_proportion_to_the_work() -> None:
    board, dispatcher = switchboard(answers)
    dispatcher.gate.clear()
    assert board.wanted_workers(1.0) == 0
    runs = [asyncio.ensure_future(all_of(board.submit(job(i, words=10)))) for i in range(20)]
    await soon(lambda: board.work_steps == 200)
    assert board.wanted_workers(1.0) == 1.0
    dispatcher.gate.set()
    await gathered(*runs)
