"""The last line of a load test: one JSON object for programs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from load_tests.answer import Answer
from load_tests.course import Course, changes


def summary(course: Course, report: Path) -> dict[str, Any]:
    """Plain data. `workers` holds each change and the last sample; latencies are those of whole answers only."""
    protocols = sorted({arrival.protocol for arrival in course.arrivals})
    counts = [count for _, count in course.workers]
    return {
        **figures(course.answers, len(course.arrivals)),
        "by_protocol": {name: _of_protocol(course, name) for name in protocols},
        "workers": [[round(at_s, 2), count] for at_s, count in _course_of(course.workers)],
        "max_workers": max(counts, default=0),
        "final_workers": counts[-1] if counts else 0,
        "scenario": course.scenario.name,
        "rates": [round(rate, 2) for rate in course.rates],
        "passed": not course.faults(),
        "report": str(report),
    }


def figures(answers: Sequence[Answer], requests: int) -> dict[str, Any]:
    """A request without an answer is a failure."""
    whole = sorted(answer.latency_ms for answer in answers if answer.error is None)
    return {
        "requests": requests,
        "failures": requests - len(whole),
        "p50_ms": _percentile(whole, 0.50),
        "p99_ms": _percentile(whole, 0.99),
    }


def _of_protocol(course: Course, name: str) -> dict[str, Any]:
    answers = [answer for answer in course.answers if answer.protocol == name]
    return figures(answers, sum(arrival.protocol == name for arrival in course.arrivals))


def _percentile(ascending: Sequence[float], share: float) -> float | None:
    """The smallest value that `share` of all do not exceed; None of nothing."""
    if not ascending:
        return None
    return round(ascending[max(0, math.ceil(share * len(ascending)) - 1)], 1)


def _course_of(workers: Sequence[tuple[float, int]]) -> list[tuple[float, int]]:
    seen = changes(workers)
    return [*seen, workers[-1]] if workers and workers[-1] not in seen else seen
