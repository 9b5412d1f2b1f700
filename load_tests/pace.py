"""How fast the service answers one request at a time: the yardstick for how much is a burst."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence

from load_tests.ask_grpc import GrpcAsker
from load_tests.ask_http import HttpAsker
from load_tests.errors import LoadTestError
from load_tests.options import Options
from load_tests.question import Question, question
from load_tests.target import Target

ROUNDS = 3
FIRST_NUMBER = 1_000_000


def solo_s(target: Target, options: Options) -> float:
    """Seconds that one request takes alone: the median over both protocols, without the first of each.

    Raises LoadTestError if any of them fails.
    """
    http = HttpAsker(target.url, options)
    grpc = GrpcAsker(target.grpc, options)
    try:
        return median_s([http.chat, grpc.generate], time.monotonic)
    finally:
        grpc.close()


def median_s(asks: Sequence[Callable[[Question], str | None]], clock: Callable[[], float]) -> float:
    took_s = []
    for number in range(ROUNDS * len(asks)):
        started_s = clock()
        fault = asks[number % len(asks)](question(FIRST_NUMBER + number))
        if fault is not None:
            raise LoadTestError(f"a request on its own failed: {fault}")
        took_s.append(clock() - started_s)
    return statistics.median(took_s[len(asks) :])
