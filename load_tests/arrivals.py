"""When requests arrive: a clock decides, never an answer, so that a slow service cannot slow its own load down."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import cycle
from typing import Literal, get_args

from load_tests.errors import LoadTestError
from load_tests.scenario import MAX_ARRIVALS, Scenario

Kind = Literal["chat", "generate", "chat_stream", "generate_stream"]
KINDS: tuple[Kind, ...] = get_args(Kind)
"""How a request is sent, in the order of their turns: every other one over HTTP."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrival:
    """A request that is due `at_s` seconds after the start. `number` also chooses its question."""

    number: int
    at_s: float
    kind: Kind

    @property
    def protocol(self) -> Literal["http", "grpc"]:
        return "http" if self.kind.startswith("chat") else "grpc"


def arrivals(scenario: Scenario, rates: Sequence[float], seed: int) -> tuple[Arrival, ...]:
    """All arrivals of the scenario, in order.

    Each second of a phase is cut into equal slots, one arrival at a random place in each: the number is exact, the
    gaps are not. Raises LoadTestError for more than MAX_ARRIVALS.
    """
    due_s: list[float] = []
    begin_s = 0.0
    dice = random.Random(seed)
    for phase, rate in zip(scenario.phases, rates, strict=True):
        count = max(1, round(phase.seconds * rate))
        if len(due_s) + count > MAX_ARRIVALS:
            raise LoadTestError(f"scenario {scenario.name} would send more than {MAX_ARRIVALS} requests")
        due_s += [begin_s + (slot + dice.random()) * phase.seconds / count for slot in range(count)]
        begin_s += phase.seconds
    turns = zip(due_s, cycle(KINDS), strict=False)
    return tuple(Arrival(number=number, at_s=at_s, kind=kind) for number, (at_s, kind) in enumerate(turns))
