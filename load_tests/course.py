"""What happened in a load test: arrivals, answers, and the worker count over time. Seconds count from the start."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from load_tests.answer import Answer
from load_tests.arrivals import Arrival
from load_tests.scenario import Scenario


@dataclass(frozen=True, slots=True, kw_only=True)
class Course:
    """`workers` are samples (seconds, count) in order."""

    scenario: Scenario
    rates: tuple[float, ...]
    arrivals: tuple[Arrival, ...]
    answers: tuple[Answer, ...]
    workers: tuple[tuple[float, int], ...]

    @property
    def counts(self) -> tuple[int, ...]:
        """The worker count, each change once."""
        return tuple(count for _, count in changes(self.workers))

    def faults(self) -> list[str]:
        """Why the test failed; empty if it passed."""
        failed = [answer for answer in self.answers if answer.error is not None]
        lost = len(self.arrivals) - len(self.answers)
        found = [f"{len(failed)} requests failed; the first: {failed[0].error}"] if failed else []
        found += [f"{lost} requests got no answer"] if lost else []
        if self.counts != self.scenario.workers:
            found.append(f"workers went {arrows(self.counts)}, expected {arrows(self.scenario.workers)}")
        return found


def changes(workers: Sequence[tuple[float, int]]) -> list[tuple[float, int]]:
    """The samples where the count is another than before, the first among them."""
    return [
        sample
        for before, sample in zip((None, *workers), workers, strict=False)
        if before is None or before[1] != sample[1]
    ]


def arrows(counts: Sequence[int]) -> str:
    return " -> ".join(map(str, counts)) or "unseen"
