"""Arrivals follow a clock: their number is exact, their protocols take turns, nothing depends on answers."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import pairwise

import pytest

from load_tests.arrivals import arrivals
from load_tests.errors import LoadTestError
from load_tests.scenario import Phase, load_scenario

SCENARIO = replace(
    load_scenario("autoscale"),
    phases=(Phase(name="quiet", seconds=10, rate=0.5), Phase(name="burst", seconds=20, rate=4.0)),
)


def test_each_phase_sends_its_rate_times_its_seconds() -> None:
    sent = arrivals(SCENARIO, [0.5, 4.0], seed=1)
    assert Counter(arrival.at_s < 10 for arrival in sent) == {True: 5, False: 80}
    assert all(0 <= arrival.at_s < 30 for arrival in sent)


def test_arrivals_are_in_order_and_no_gap_is_longer_than_two_slots() -> None:
    times = [arrival.at_s for arrival in arrivals(SCENARIO, [0.5, 4.0], seed=2) if arrival.at_s >= 10]
    gaps = [after - before for before, after in pairwise(times)]
    assert min(gaps) >= 0
    assert max(gaps) <= 0.5


def test_half_of_the_requests_go_over_each_protocol_and_half_of_those_are_streamed() -> None:
    sent = arrivals(SCENARIO, [0.4, 4.0], seed=3)
    assert len(sent) == 84
    assert set(Counter(arrival.kind for arrival in sent).values()) == {21}
    assert Counter(arrival.protocol for arrival in sent) == {"http": 42, "grpc": 42}


def test_the_same_seed_gives_the_same_arrivals() -> None:
    assert arrivals(SCENARIO, [0.5, 4.0], seed=4) == arrivals(SCENARIO, [0.5, 4.0], seed=4)
    assert arrivals(SCENARIO, [0.5, 4.0], seed=4) != arrivals(SCENARIO, [0.5, 4.0], seed=5)


def test_a_scenario_cannot_send_without_bound() -> None:
    with pytest.raises(LoadTestError, match="more than 2000"):
        arrivals(SCENARIO, [0.5, 1000.0], seed=6)
