"""A small course with numbers a reader can check by hand."""

from __future__ import annotations

from collections.abc import Sequence

from load_tests.answer import Answer
from load_tests.arrivals import arrivals
from load_tests.course import Course
from load_tests.options import Options
from load_tests.scenario import Phase, Scenario

SCENARIO = Scenario(
    name="small",
    phases=(Phase(name="quiet", seconds=10, rate=1.0),),
    workers=(1, 2, 1),
    max_rate=6,
    settle_s=1,
    options=Options(max_tokens=8, truncate=True, budget_s=1),
)
GOOD = ((0.0, 1), (1.0, 1), (2.0, 2), (3.0, 2), (8.0, 1), (9.0, 1))


def course(
    *, workers: Sequence[tuple[float, int]] = GOOD, errors: Sequence[int] = (), lost: Sequence[int] = ()
) -> Course:
    """Ten requests; number n takes (n + 1) * 100 ms. `errors` fail, `lost` get no answer."""
    sent = arrivals(SCENARIO, [1.0], seed=0)
    answers = tuple(
        Answer(
            number=arrival.number,
            at_s=arrival.at_s,
            kind=arrival.kind,
            protocol=arrival.protocol,
            latency_ms=(arrival.number + 1) * 100.0,
            error="HTTP 500: <b>oh</b>" if arrival.number in errors else None,
        )
        for arrival in sent
        if arrival.number not in lost
    )
    return Course(scenario=SCENARIO, rates=(1.0,), arrivals=sent, answers=answers, workers=tuple(workers))
