from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seer_core.probe.boundary import kept_tokens
from seer_core.tools.scores import NO_BOUNDARY, Truth, kept, score, smallest_margin, wilson_upper

# Exact, one late, two early, undetected, and a canvas without end where nothing was detected.
TRUTH = Truth(canvas=np.array([16, 16, 16, 16, 8]), end=np.array([5, 5, 5, 6, 8]))
FOUND = np.array([5, 6, 3, NO_BOUNDARY, NO_BOUNDARY])


def test_the_error_is_over_detections_and_the_cost_over_all_rows() -> None:
    result = score(FOUND, TRUTH)
    assert result.mae_tokens == pytest.approx((0 + 1 + 2) / 3)
    assert result.cost_tokens == pytest.approx((0 + 1 + 2 + 10 + 0) / 5)


def test_rows_without_an_end_cannot_be_detected() -> None:
    assert score(FOUND, TRUTH).detection_rate == 0.75


def test_over_truncation_means_fewer_tokens_than_the_answer_has() -> None:
    # Row 2 keeps 4 of 5 answer tokens; a margin of one keeps the answer and loses only its end token.
    assert score(FOUND, TRUTH).over_truncation == 0.2
    with_margin = score(FOUND, TRUTH, margin_tokens=1)
    assert (with_margin.over_truncation, with_margin.lost_end) == (0.0, 0.2)
    assert score(FOUND, TRUTH, margin_tokens=2).lost_end == 0.0


def test_cutting_a_canvas_without_end_is_over_truncation() -> None:
    truth = Truth(canvas=np.array([8]), end=np.array([8]))
    assert score(np.array([3]), truth).over_truncation == 1.0


def test_the_margin_is_the_smallest_that_keeps_the_promise() -> None:
    assert smallest_margin(FOUND, TRUTH, 0.0) == 2
    assert smallest_margin(FOUND, TRUTH, 0.2) == 0


@given(st.lists(st.tuples(st.integers(-1, 20), st.integers(0, 20)), min_size=1, max_size=30), st.floats(0, 1))
def test_no_smaller_margin_would_do(rows: list[tuple[int, int]], allowed: float) -> None:
    found, end = (np.array(values) for values in zip(*rows, strict=True))
    truth = Truth(canvas=np.full(len(rows), 20), end=end)
    found = np.minimum(found, 19)
    margin = smallest_margin(found, truth, allowed)
    assert score(found, truth, margin).lost_end <= allowed
    assert margin == 0 or score(found, truth, margin - 1).lost_end > allowed


@given(st.integers(-1, 40), st.integers(1, 32), st.integers(0, 8))
def test_kept_for_many_rows_is_kept_for_each(boundary: int, canvas: int, margin: int) -> None:
    found = min(boundary, canvas - 1)
    alone = kept_tokens(None if found == NO_BOUNDARY else found, canvas, margin)
    assert kept(np.array([found]), np.array([canvas]), margin).tolist() == [alone]


def test_nothing_detected_has_no_error() -> None:
    assert score(np.array([NO_BOUNDARY]), Truth(canvas=np.array([8]), end=np.array([3]))).mae_tokens is None


def test_no_hit_in_300_rows_still_leaves_more_than_one_percent_possible() -> None:
    assert wilson_upper(0, 300) == pytest.approx(0.0126, abs=1e-4)
