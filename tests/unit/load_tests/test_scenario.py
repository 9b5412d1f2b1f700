"""Scenarios are read from YAML; what is wrong in one is said by name."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from load_tests.errors import LoadTestError
from load_tests.scenario import load_scenario, parse_scenario


def document(**changes: Any) -> dict[str, Any]:
    options = {"budget_s": 120, "max_tokens": 64, "truncate": False}
    fixed = {"workers": [1, 2, 1], "max_rate": 6, "settle_s": 40, "options": options}
    return {**fixed, "phases": [{"name": "burst", "seconds": 10, "load": 2.0}], **changes}


def test_the_shipped_scenario_goes_up_and_down_and_stays_within_three_minutes() -> None:
    scenario = load_scenario("autoscale")
    assert scenario.workers == (1, 2, 1)
    assert scenario.seconds + scenario.settle_s < 180


def test_a_load_is_sized_to_the_service_and_bounded() -> None:
    scenario = parse_scenario(document(), "one")
    assert scenario.rates(solo_s=0.5) == [4.0]
    assert scenario.rates(solo_s=0.01) == [6.0]


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"phases": [{"name": "burst", "seconds": 10}]}, "burst: give either rate or load"),
        ({"phases": [{"name": "burst", "seconds": 10, "rate": 1, "load": 1}]}, "burst: give either rate or load"),
        ({"phases": [{"name": "burst", "seconds": 0, "rate": 1}]}, "burst: seconds, rate and load must be positive"),
        ({"phases": []}, "must not be empty"),
        ({"phases": [{"name": "long", "seconds": 3600, "rate": 1}]}, "3600 s is more than 600 s"),
        ({"workers": None}, "cannot be read"),
        ({"speed": 3}, "speed"),
    ],
)
def test_a_wrong_scenario_is_refused_by_name(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(LoadTestError, match=said):
        parse_scenario(document(**changes), "one")


def test_an_unknown_scenario_is_answered_with_the_known_ones() -> None:
    with pytest.raises(LoadTestError, match=r"no scenario bursts; known: .*autoscale"):
        load_scenario("bursts")


def test_a_scenario_may_lie_in_a_file_of_ones_own(tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text(
        "{workers: [1], max_rate: 1, settle_s: 1, options: {budget_s: 1, max_tokens: 1, truncate: true},"
        " phases: [{name: quiet, seconds: 1, rate: 1}]}",
        encoding="utf-8",
    )
    assert load_scenario(str(file)).name == "mine"
