from __future__ import annotations

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seer_core.probe.boundary import NOTHING, Detection
from seer_core.probe.ended import dual_boundary, ended_by, first_end_boundary, log_odds, smartcrop_boundary
from seer_core.probe.rules import DualRule

RISING = np.array([0.0, 0.5, 0.5, 0.9, 0.9])  # has ended by i with 0, .5, .75, .975, .9975


def literal_crop(p: list[float], threshold: float) -> int | None:
    going_on = 1.0
    for i, value in enumerate(p):
        going_on *= 1.0 - value
        if 1.0 - going_on >= threshold:
            return i
    return None


def test_the_chance_to_have_ended_grows_by_what_is_left() -> None:
    assert ended_by(RISING).tolist() == pytest.approx([0.0, 0.5, 0.75, 0.975, 0.9975])


@pytest.mark.parametrize(("threshold", "expected"), [(0.5, 1), (0.7, 2), (0.95, 3), (0.99, 4), (0.999, None)])
def test_smartcrop_cuts_where_the_threshold_is_passed(threshold: float, expected: int | None) -> None:
    assert smartcrop_boundary(RISING, threshold=threshold).boundary == expected


def test_the_first_end_token_that_is_likeliest_is_taken_however_unsure() -> None:
    found = first_end_boundary(np.array([False, True, False, True]), np.array([0.1, 0.3, 0.2, 0.9]))
    assert found == Detection(boundary=1, score=0.3)
    assert first_end_boundary(np.zeros(3, bool), np.full(3, 0.4)) == NOTHING


@pytest.mark.parametrize(
    ("activation", "agree", "expected"),
    [(3, 0, 3), (2, 1, 2), (2, 0, 3), (0, 2, 3), (4, 0, 4), (4, 4, 4), (None, 9, None)],
)
def test_where_both_agree_activations_decide_otherwise_the_later(
    activation: int | None, agree: int, expected: int | None
) -> None:
    rule = DualRule(threshold=0.95, agree_tokens=agree)
    assert dual_boundary(Detection(boundary=activation, score=1.0), RISING, rule).boundary == expected


def test_without_a_likely_end_the_activations_alone_cut_nothing() -> None:
    assert dual_boundary(Detection(boundary=2, score=9.0), np.full(5, 0.01), DualRule()) == NOTHING


@given(st.lists(st.integers(0, 64).map(lambda count: count / 64), min_size=1, max_size=40), st.floats(0.01, 0.999))
def test_smartcrop_equals_its_literal_twin(p: list[float], threshold: float) -> None:
    assert smartcrop_boundary(np.array(p), threshold=threshold).boundary == literal_crop(p, threshold)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=20), st.integers(0, 19))
def test_every_score_is_finite_and_fits_in_json(p: list[float], boundary: int) -> None:
    activation = Detection(boundary=min(boundary, len(p) - 1), score=2.0)
    found = dual_boundary(activation, np.array(p), DualRule(threshold=0.5))
    json.dumps(found.score, allow_nan=False)
    assert math.isfinite(log_odds(p[0]))
