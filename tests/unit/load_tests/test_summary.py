"""The last line of a load test."""

from __future__ import annotations

import json
from pathlib import Path

from load_tests.summary import summary
from tests.unit.load_tests.course import course

REPORT = Path("report.html")


def test_it_counts_requests_and_tells_latencies_by_protocol() -> None:
    result = summary(course(), REPORT)
    assert {key: result[key] for key in ("requests", "failures", "p50_ms", "p99_ms")} == {
        "requests": 10,
        "failures": 0,
        "p50_ms": 500.0,
        "p99_ms": 1000.0,
    }
    assert result["by_protocol"]["http"] == {"requests": 5, "failures": 0, "p50_ms": 500.0, "p99_ms": 900.0}
    assert result["by_protocol"]["grpc"] == {"requests": 5, "failures": 0, "p50_ms": 600.0, "p99_ms": 1000.0}
    assert result["passed"] is True


def test_workers_are_told_by_their_changes_and_the_last_sample() -> None:
    result = summary(course(), REPORT)
    assert result["workers"] == [[0.0, 1], [2.0, 2], [8.0, 1], [9.0, 1]]
    assert (result["max_workers"], result["final_workers"]) == (2, 1)


def test_errors_and_missing_answers_are_failures_and_have_no_latency() -> None:
    result = summary(course(errors=[9], lost=[8]), REPORT)
    assert (result["failures"], result["p99_ms"], result["passed"]) == (2, 800.0, False)
    assert result["by_protocol"]["http"]["failures"] == 1


def test_it_fits_on_one_line_even_if_nothing_was_answered() -> None:
    line = json.dumps(summary(course(lost=range(10), workers=[]), REPORT))
    assert "\n" not in line
    assert json.loads(line)["p50_ms"] is None
