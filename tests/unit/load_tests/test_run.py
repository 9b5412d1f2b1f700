"""A whole load test against a fake service: Locust in its own process, both protocols, a watcher."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from load_tests.course import Course
from load_tests.errors import LoadTestError
from load_tests.options import Options
from load_tests.run import Run
from load_tests.scenario import Phase, Scenario
from tests.unit.load_tests.fake_service import FakeService, serving

FAKE_WATCH = str(Path(__file__).with_name("fake_watch.py"))
SCENARIO = Scenario(
    name="short",
    phases=(
        Phase(name="quiet", seconds=1.0, rate=4.0),
        Phase(name="burst", seconds=1.0, rate=20.0),
        Phase(name="quiet", seconds=1.0, rate=4.0),
    ),
    workers=(1, 2, 1),
    max_rate=20.0,
    settle_s=20.0,
    options=Options(max_tokens=8, truncate=True, budget_s=20.0),
)


def run(service: FakeService, folder: Path) -> Course:
    with serving(service) as target:
        watcher = [sys.executable, FAKE_WATCH, target.url]
        test = Run(target, SCENARIO, rates=SCENARIO.rates(1.0), seed=0, watcher=watcher, say=lambda _: None)
        return test.course(folder)


def test_every_arrival_is_answered_over_both_protocols_while_workers_come_and_go(tmp_path: Path) -> None:
    course = run(FakeService(busy=range(6, 26)), tmp_path)
    assert course.faults() == []
    assert {answer.number for answer in course.answers} == set(range(28))
    assert {answer.kind for answer in course.answers} == {"chat", "chat_stream", "generate", "generate_stream"}
    assert (tmp_path / "locust.html").read_text(encoding="utf-8").count("generate_stream") > 0


def test_refused_requests_and_workers_that_do_not_scale_fail_the_test(tmp_path: Path) -> None:
    course = run(FakeService(busy=range(0), refused=range(9, 13)), tmp_path)
    assert len(course.answers) == 28
    failed, unscaled = course.faults()
    assert failed.startswith("4 requests failed")
    assert "full" in failed
    assert unscaled == "workers went 1, expected 1 -> 2 -> 1"


def test_a_watcher_that_cannot_watch_is_an_error_with_its_last_words(tmp_path: Path) -> None:
    with serving(FakeService(busy=range(0))) as target:
        watcher = [sys.executable, "-c", "raise SystemExit('no cluster here')"]
        test = Run(target, SCENARIO, rates=[1.0, 1.0, 1.0], seed=0, watcher=watcher, say=lambda _: None)
        with pytest.raises(LoadTestError, match="no cluster here"):
            test.course(tmp_path)
