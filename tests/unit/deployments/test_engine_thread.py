"""One engine in one thread: every row one last delta, whatever the engine does."""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from deployments.engine_thread import EngineThread
from seer_core.errors import EngineError, InvalidRequest
from seer_core.types import Delta, Sampling
from tests.scripted import ScriptedEngine, SpokenPrompt, foreseen


@dataclass(frozen=True)
class Spoken:
    id: str
    text: str

    @property
    def prompt(self) -> SpokenPrompt:
        return SpokenPrompt(self.text)

    sampling = Sampling(max_tokens=64)
    forecast = foreseen(3, 64)


class Mailbox:
    """Collects what one group is sent."""

    def __init__(self) -> None:
        self.parcels: queue.Queue[list[Delta]] = queue.Queue()

    def put(self, deltas: list[Delta]) -> None:
        self.parcels.put(deltas)

    def until_last(self, count: int) -> dict[str, list[Delta]]:
        """Everything up to `count` last deltas, by row."""
        rows: dict[str, list[Delta]] = {}
        while count:
            for delta in self.parcels.get(timeout=5.0):
                rows.setdefault(delta.id, []).append(delta)
                count -= delta.last
        return rows


class Gated(ScriptedEngine):
    """Steps only when told."""

    gate = threading.Event()

    def step(self) -> list[Delta]:
        self.gate.wait(5.0)
        return super().step()


@pytest.fixture
def thread() -> Iterator[EngineThread]:
    thread = EngineThread(ScriptedEngine(max_rows=2))
    yield thread
    thread.close()
    assert not thread.alive


@pytest.fixture
def gated() -> Iterator[tuple[EngineThread, threading.Event]]:
    engine = Gated(max_rows=2)
    engine.gate = threading.Event()
    thread = EngineThread(engine)
    yield thread, engine.gate
    engine.gate.set()
    thread.close()


def said(deltas: list[Delta]) -> str:
    return "".join(delta.text for delta in deltas)


def test_rows_beyond_the_free_ones_wait_and_are_served(thread: EngineThread) -> None:
    box = Mailbox()
    thread.submit([Spoken(str(i), f"row {i} speaks") for i in range(7)], box.put)
    rows = box.until_last(7)
    assert {row_id: said(deltas) for row_id, deltas in rows.items()} == {str(i): f"row {i} speaks" for i in range(7)}
    assert thread.rows == 0


def test_every_group_reads_only_its_own_rows(thread: EngineThread) -> None:
    one, two = Mailbox(), Mailbox()
    thread.submit([Spoken("a", "for one")], one.put)
    thread.submit([Spoken("b", "for two")], two.put)
    assert set(one.until_last(1)) == {"a"}
    assert set(two.until_last(1)) == {"b"}


def test_a_failing_row_fails_alone(thread: EngineThread) -> None:
    box = Mailbox()
    thread.submit([Spoken("bad", "well BOOM"), Spoken("good", "all is well")], box.put)
    rows = box.until_last(2)
    assert isinstance(rows["bad"][-1].error, InvalidRequest)
    assert said(rows["good"]) == "all is well"


def test_a_crashed_step_ends_its_rows_and_the_thread_goes_on(
    thread: EngineThread, caplog: pytest.LogCaptureFixture
) -> None:
    box = Mailbox()
    thread.submit([Spoken("bad", "CRASH")], box.put)
    error = box.until_last(1)["bad"][-1].error
    assert isinstance(error, EngineError)
    assert "crashed" not in error.message
    thread.submit([Spoken("next", "still here")], box.put)
    assert said(box.until_last(1)["next"]) == "still here"


def test_a_cancelled_row_ends_and_frees_its_place(gated: tuple[EngineThread, threading.Event]) -> None:
    thread, gate = gated
    box = Mailbox()
    thread.submit([Spoken("a", "one two three"), Spoken("b", "one two three"), Spoken("c", "waits")], box.put)
    thread.cancel(["a", "c"])
    thread.cancel(["a"])
    gate.set()
    rows = box.until_last(3)
    assert isinstance(rows["a"][-1].error, EngineError)
    assert isinstance(rows["c"][-1].error, EngineError)
    assert said(rows["b"]) == "one two three"


def test_a_cancel_that_overtakes_its_row_still_counts(thread: EngineThread) -> None:
    box = Mailbox()
    thread.cancel(["early"])
    thread.submit([Spoken("early", "never said"), Spoken("other", "said")], box.put)
    rows = box.until_last(2)
    assert said(rows["early"]) == ""
    assert isinstance(rows["early"][-1].error, EngineError)
    assert said(rows["other"]) == "said"


def test_progress_stands_still_while_a_step_is_stuck(gated: tuple[EngineThread, threading.Event]) -> None:
    thread, gate = gated
    box = Mailbox()
    thread.submit([Spoken("a", "one two")], box.put)
    before = thread.progress
    gate.set()
    box.until_last(1)
    assert thread.progress > before


def test_a_reader_that_is_gone_does_not_end_the_thread(thread: EngineThread) -> None:
    def closed(deltas: list[Delta]) -> None:
        raise RuntimeError("event loop is closed")

    box = Mailbox()
    thread.submit([Spoken("a", "to nobody")], closed)
    thread.submit([Spoken("b", "to somebody")], box.put)
    assert said(box.until_last(1)["b"]) == "to somebody"
