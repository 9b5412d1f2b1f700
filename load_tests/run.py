"""One load test from start to end: visitors and watcher side by side, their lines gathered into a `Course`."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from pathlib import Path

from load_tests.answer import Answer, parse_answer
from load_tests.arrivals import arrivals
from load_tests.course import Course
from load_tests.errors import LoadTestError
from load_tests.program import Program
from load_tests.scenario import Scenario
from load_tests.target import Target
from load_tests.visit_plan import Visit

HEADSTART_S = 1.5
"""Between the visitors' orders and the start: none of them may be late."""
START_TIMEOUT_S = 60.0
POLL_S = 0.2

Say = Callable[[str], None]


class Run:
    """Sends the scenario's requests to `target`. `watcher` is the command that reports the worker count."""

    def __init__(
        self, target: Target, scenario: Scenario, *, rates: Sequence[float], seed: int, watcher: Sequence[str], say: Say
    ) -> None:
        self._target = target
        self._scenario = scenario
        self._rates = tuple(rates)
        self._arrivals = arrivals(scenario, rates, seed)
        self._watcher_command = watcher
        self._say = say
        self._answers: list[Answer] = []
        self._samples: list[tuple[float, int]] = []

    def course(self, folder: Path) -> Course:
        """Run it. Logs, and Locust's page as locust.html, go to `folder`. Raises LoadTestError."""
        with ExitStack() as stack:
            watcher = stack.enter_context(Program(self._watcher_command, log=folder / "watch.log"))
            command = [sys.executable, "-m", "load_tests.visit"]
            visitors = stack.enter_context(Program(command, log=folder / "visit.log"))
            first_line(visitors, "the visitors did not start")
            self._add_samples([first_line(watcher, "the workers cannot be watched")])
            start_s = time.monotonic() + HEADSTART_S
            visitors.send(self._visit(start_s, folder).line())
            self._follow(watcher, visitors, start_s)
        workers = tuple((at_s - start_s, count) for at_s, count in self._samples if at_s >= start_s)
        return Course(
            scenario=self._scenario,
            rates=self._rates,
            arrivals=self._arrivals,
            answers=tuple(self._answers),
            workers=workers,
        )

    def _visit(self, start_s: float, folder: Path) -> Visit:
        return Visit(
            url=self._target.url,
            grpc=self._target.grpc,
            start_s=start_s,
            arrivals=self._arrivals,
            options=self._scenario.options,
            report=str(folder / "locust.html"),
        )

    def _follow(self, watcher: Program, visitors: Program, start_s: float) -> None:
        """Until the visitors are done and the workers at rest, or the scenario's time is over."""
        deadline_s = start_s + self._scenario.seconds + self._scenario.settle_s
        while visitors.running or not self._at_rest():
            time.sleep(POLL_S)
            self._read(watcher, visitors)
            self._say(self._progress(time.monotonic() - start_s))
            if not watcher.running:
                raise LoadTestError(f"the watcher ended:\n{watcher.complaint()}")
            if time.monotonic() > deadline_s:
                break
        self._read(watcher, visitors)
        if not self._answers:
            raise LoadTestError(f"the visitors sent nothing:\n{visitors.complaint()}")

    def _at_rest(self) -> bool:
        return self._samples[-1][1] == self._scenario.workers[-1]

    def _read(self, watcher: Program, visitors: Program) -> None:
        self._add_samples(watcher.lines())
        self._answers += [parse_answer(line) for line in visitors.lines()]

    def _add_samples(self, lines: Iterable[str]) -> None:
        samples = [json.loads(line) for line in lines]
        self._samples += [(sample["at"], sample["count"]) for sample in samples]

    def _progress(self, now_s: float) -> str:
        due = sum(arrival.at_s <= now_s for arrival in self._arrivals)
        failed = sum(answer.error is not None for answer in self._answers)
        return (
            f"{max(0.0, now_s):5.1f} s  {self._phase(now_s):<6} sent {due}/{len(self._arrivals)}"
            f"  answered {len(self._answers)}  failed {failed}  workers {self._samples[-1][1]}"
        )

    def _phase(self, now_s: float) -> str:
        end_s = 0.0
        for phase in self._scenario.phases:
            end_s += phase.seconds
            if now_s < end_s:
                return phase.name
        return "rest"


def first_line(program: Program, problem: str) -> str:
    """Wait for it. Raises LoadTestError with `problem` if the program ends first or takes START_TIMEOUT_S."""
    deadline_s = time.monotonic() + START_TIMEOUT_S
    while program.running and time.monotonic() < deadline_s:
        for line in program.lines():
            return line
        time.sleep(POLL_S)
    raise LoadTestError(f"{problem}:\n{program.complaint()}")
