from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seer_core.probe.boundary import kept_tokens
from seer_core.tools.scores import (
    NO_BOUNDARY,
    Rows,
    Truth,
    best_of,
    folds_of,
    held_out,
    kept,
    score,
    smallest_margin,
    wilson_upper,
    work,
)

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


def literal_best(found: Rows, truth: Truth, lost_end: float) -> tuple[bool, float]:
    """Safety and work of the best setting, one at a time."""
    each = [
        (score(row, truth).over_truncation > 0.01, work(row, truth, smallest_margin(row, truth, lost_end)))
        for row in found
    ]
    return min(each)


@given(
    st.lists(st.lists(st.integers(-1, 19), min_size=5, max_size=5), min_size=1, max_size=12), st.sampled_from([0, 0.2])
)
def test_the_best_setting_is_the_safe_one_with_the_least_work_under_its_own_margin(
    settings: list[list[int]], lost_end: float
) -> None:
    found = np.array(settings)
    truth = Truth(canvas=np.full(5, 20), end=np.array([3, 8, 12, 20, 0]))
    best = best_of(found, truth, lost_end=lost_end, most_over_truncation=0.01)
    margin = smallest_margin(found[best], truth, lost_end)
    unsafe = score(found[best], truth).over_truncation > 0.01
    assert (unsafe, work(found[best], truth, margin)) == literal_best(found, truth, lost_end)


def test_a_row_is_judged_by_the_setting_that_was_best_without_it() -> None:
    truth = Truth(canvas=np.full(4, 20), end=np.full(4, 5))
    found = np.array([[5, 5, 9, 9], [9, 9, 5, 5]])  # each setting is right on one fold
    rows = held_out(found, truth, np.array([0, 0, 1, 1]), lost_end=0.0, most_over_truncation=1.0)
    assert rows.tolist() == [9, 9, 9, 9]


def test_folds_are_of_even_size_and_the_same_every_time() -> None:
    assert sorted(np.bincount(folds_of(10, 4)).tolist()) == [2, 2, 3, 3]
    assert folds_of(10, 4).tolist() == folds_of(10, 4).tolist()
    assert folds_of(2, 4).tolist() in ([0, 1], [1, 0])


def test_work_counts_a_position_for_every_step() -> None:
    truth = Truth(canvas=np.array([10, 10]), end=np.array([3, 3]))
    assert work(np.array([3, NO_BOUNDARY]), truth) == (4 * 4 + 10 * 10) / 2
