"""The visitors, a program of its own: Locust users that send each arrival when it is due, come what may.

Says "ready", reads one `Visit` from standard input, says one `Answer` a line, and leaves Locust's own report in a file.
It is its own process because Locust replaces Python's blocking calls with gevent's wherever it is imported.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import ClassVar

import gevent
import grpc.experimental.gevent
from gevent.pool import Group
from locust import User, task
from locust.env import Environment
from locust.exception import StopUser
from locust.html import get_html_report
from locust.log import setup_logging
from locust.stats import stats_history

from load_tests.answer import Answer
from load_tests.arrivals import Arrival, Kind
from load_tests.ask_grpc import GrpcAsker
from load_tests.ask_http import HttpAsker
from load_tests.question import Question, question
from load_tests.visit_plan import Visit, parse_visit

Ask = Callable[[Question], str | None]


class Visitor(User):
    """Sends the arrivals of one protocol, each in a greenlet of its own."""

    abstract = True
    fixed_count = 1
    visit: ClassVar[Visit]
    protocol: ClassVar[str]
    asks: Mapping[Kind, Ask]

    @task
    def send_all(self) -> None:
        answers = Group()
        for arrival in self.visit.arrivals:
            if arrival.protocol == self.protocol:
                time.sleep(max(0.0, self.visit.start_s + arrival.at_s - time.monotonic()))
                answers.spawn(self._send, arrival)
        answers.join()
        raise StopUser

    def _send(self, arrival: Arrival) -> None:
        due_s = self.visit.start_s + arrival.at_s
        try:
            fault = self.asks[arrival.kind](question(arrival.number))
        except Exception as error:
            fault = f"{type(error).__name__}: {error}"
        latency_ms = (time.monotonic() - due_s) * 1000
        answer = Answer(
            number=arrival.number,
            at_s=arrival.at_s,
            kind=arrival.kind,
            protocol=arrival.protocol,
            latency_ms=latency_ms,
            error=fault,
        )
        print(answer.line(), flush=True)
        self.environment.events.request.fire(
            request_type=arrival.protocol,
            name=arrival.kind,
            response_time=latency_ms,
            response_length=0,
            exception=None if fault is None else RuntimeError(fault),
            context={},
        )


class HttpVisitor(Visitor):
    protocol = "http"

    def on_start(self) -> None:
        asker = HttpAsker(self.visit.url, self.visit.options)
        self.asks = {"chat": asker.chat, "chat_stream": asker.chat_stream}


class GrpcVisitor(Visitor):
    protocol = "grpc"

    def on_start(self) -> None:
        asker = GrpcAsker(self.visit.grpc, self.visit.options)
        self.asks = {"generate": asker.generate, "generate_stream": asker.generate_stream}


def main() -> None:
    print("ready", flush=True)
    Visitor.visit = parse_visit(sys.stdin.read())
    grpc.experimental.gevent.init_gevent()
    setup_logging("WARNING")  # type: ignore[no-untyped-call]
    environment = Environment(user_classes=[HttpVisitor, GrpcVisitor], host=Visitor.visit.url, catch_exceptions=False)
    runner = environment.create_local_runner()
    history = gevent.spawn(stats_history, runner)
    runner.start(user_count=2, spawn_rate=2)
    while runner.user_count or time.monotonic() < Visitor.visit.start_s:
        time.sleep(0.1)
    runner.stop()
    history.kill()
    page: str = get_html_report(environment, show_download_link=False)  # type: ignore[no-untyped-call]
    Path(Visitor.visit.report).write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
