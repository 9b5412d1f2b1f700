from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from seer_core.errors import EngineError, InvalidRequest
from seer_core.probe.detectors import DETECTORS, GIVEN, detector_named, forecast_from
from seer_core.probe.profile import DETECTOR_NAMES, CalibratedRule, DualRule, Profile, Readout, SmartCropRule
from seer_core.probe.statistic import Evidence

PLAIN = Profile(fingerprint="f")
FULL = Profile(
    fingerprint="f",
    readout=Readout(layer=1, tensor="product", weights=(1.0,), bias=0.0, margin_tokens=2),
    calibrated_rule=CalibratedRule(
        layer=2, tensor="mlp", eps=0.1, tau_jump=0.1, gamma=0.6, baseline=(0.0,), margin_tokens=3
    ),
    smartcrop=SmartCropRule(threshold=0.9, margin_tokens=1),
    dual=DualRule(activation="readout", margin_tokens=4),
)
BEHIND = np.arange(16) >= 5
SEEN = Evidence(
    canvas_tokens=16,
    sparsity=np.where(BEHIND, 0.4, 0.2),
    units=512,
    centred=np.where(BEHIND, 0.0, -0.3),
    scores=np.where(BEHIND, 3.0, -3.0),
    end_probability=np.where(BEHIND, 0.95, 0.001),
    end_likeliest=BEHIND,
)


@pytest.mark.parametrize(
    ("name", "kept"),
    [
        ("paper", 6),
        ("calibrated", 9),
        ("readout", 8),
        ("first_end", 6),
        ("smartcrop", 7),
        ("dual", 10),
        ("oracle:5", 6),
        ("oracle:16", 16),
        ("fixed:6", 6),
        ("fixed:99", 16),
        ("none", 16),
    ],
)
def test_every_detector_finds_a_plain_end_and_keeps_its_own_margin(name: str, kept: int) -> None:
    found = forecast_from(SEEN, FULL, name)
    assert found.length_tokens == kept
    assert found.boundary in (5, None)
    assert found.fallback == (found.boundary is None)
    assert found.detector == name.partition(":")[0]


@pytest.mark.parametrize(
    ("name", "layers", "head"),
    [
        ("paper", 4, False),
        ("calibrated", 3, False),
        ("readout", 2, False),
        ("first_end", None, True),
        ("smartcrop", None, True),
        ("dual", None, True),
        ("oracle:3", 0, False),
        ("fixed:3", 0, False),
        ("none", 0, False),
    ],
)
def test_each_states_what_it_costs(name: str, layers: int | None, head: bool) -> None:
    cost = detector_named(name, FULL).cost(FULL)
    assert (cost.layers, cost.head, cost.free) == (layers, head, layers == 0)
    assert cost.layers_of(8) == (8 if layers is None else layers)


@pytest.mark.parametrize(
    ("wrong", "near"),
    [("smartcorp", "smartcrop"), ("first-end", "first_end"), ("oracel:3", "oracle"), ("calibrate", "calibrated")],
)
def test_an_unknown_name_is_refused_with_the_nearest(wrong: str, near: str) -> None:
    with pytest.raises(InvalidRequest, match=f"did you mean '{near}'") as raised:
        detector_named(wrong, FULL)
    assert raised.value.field == "detector"


@pytest.mark.parametrize("name", ["oracle", "oracle:", "oracle:-1", "fixed:0", "fixed:x", "fixed:1.5", "fixed:²"])
def test_a_told_detector_needs_a_number(name: str) -> None:
    with pytest.raises(InvalidRequest, match="needs a whole number"):
        detector_named(name, PLAIN)


def test_a_number_behind_a_detector_that_takes_none_is_refused() -> None:
    with pytest.raises(InvalidRequest, match="did you mean 'paper'"):
        detector_named("paper:3", PLAIN)


@pytest.mark.parametrize(("name", "missing"), [("readout", "readout"), ("calibrated", "calibrated rule")])
def test_a_detector_without_its_numbers_is_refused(name: str, missing: str) -> None:
    with pytest.raises(InvalidRequest, match=f"no {missing}; calibrate it first"):
        detector_named(name, PLAIN)


def test_a_detector_that_was_shown_too_little_says_so() -> None:
    blind = replace(SEEN, scores=None, centred=None, end_probability=None, end_likeliest=None)
    for name in ("readout", "calibrated", "smartcrop", "first_end", "dual"):
        with pytest.raises(EngineError, match=r"has not looked at"):
            forecast_from(blind, FULL, name)


def test_a_profile_may_name_exactly_the_detectors_that_need_no_number() -> None:
    assert tuple(DETECTORS) == DETECTOR_NAMES
    assert set(GIVEN).isdisjoint(DETECTORS)
