"""The `paper` detector on curves small enough to work out by hand, and against its literal twin."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seer_core.probe.boundary import first_jump, kept_tokens, paper_boundary
from seer_core.probe.statistic import Evidence

PAPER = {"tau_jump": 0.03, "gamma": 0.6, "window": 3}


def boundary(*curve: float, **rule: float) -> int | None:
    return first_jump(np.array(curve), **{**PAPER, **rule})  # type: ignore[arg-type]


def literal_rule(s: list[float], tau_jump: float, gamma: float, window: int) -> int | None:
    """The paper's rule, word by word: windows W_i for i = 1 .. N - window, the first that passes both tests."""
    for i in range(1, len(s) - window + 1):
        w = [s[i + k] for k in range(window)]
        jump = min(w) - s[i - 1]
        noise = max(w) - min(w)
        if jump >= tau_jump and noise <= gamma * jump:
            return i
    return None


def test_the_jump_is_found_at_the_first_position_of_the_plateau() -> None:
    # At 3: jump = .40 - .30 = .10, noise = .42 - .40 = .02 <= .6 * .10.
    assert boundary(0.29, 0.30, 0.30, 0.40, 0.42, 0.41, 0.41) == 3


def test_a_jump_into_an_unstable_window_does_not_count() -> None:
    # At 2: jump = .35 - .30 = .05, noise = .40 - .35 = .05 > .6 * .05. Nothing later rises by .03.
    assert boundary(0.30, 0.30, 0.35, 0.40, 0.37, 0.37, 0.37) is None


def test_a_jump_below_the_threshold_does_not_count() -> None:
    assert boundary(0.30, 0.30, 0.325, 0.325, 0.325, 0.325) is None


def test_of_two_jumps_the_first_is_taken() -> None:
    assert boundary(0.1, 0.2, 0.2, 0.2, 0.4, 0.4, 0.4, 0.4) == 1


def test_equality_passes_both_thresholds() -> None:
    # Powers of two, so that both comparisons are exact: jump = 1/4, noise = 1/8 = 1/2 * 1/4.
    assert boundary(0.25, 0.5, 0.5, 0.625, tau_jump=0.25, gamma=0.5) == 1


def test_the_last_window_starts_three_before_the_end() -> None:
    assert boundary(0.1, 0.1, 0.1, 0.4, 0.4, 0.4) == 3
    assert boundary(0.1, 0.1, 0.1, 0.1, 0.4, 0.4) is None


def test_a_boundary_of_zero_cannot_be_found() -> None:
    assert boundary(0.4, 0.4, 0.4, 0.4, 0.4, 0.4) is None


@pytest.mark.parametrize("length", [1, 2, 3])
def test_a_canvas_without_room_for_a_window_has_no_boundary(length: int) -> None:
    assert boundary(*[0.1] * length) is None


def test_the_smallest_canvas_with_a_boundary_has_four_positions() -> None:
    assert boundary(0.1, 0.4, 0.4, 0.4) == 1


def test_the_keep_one_rule_keeps_the_end_tokens_slot() -> None:
    assert kept_tokens(boundary(0.29, 0.30, 0.30, 0.40, 0.42, 0.41, 0.41), 7, 0) == 4


def test_the_score_is_the_signal_to_noise_ratio() -> None:
    curve = np.array([0.30, 0.30, 0.40, 0.50, 0.45, 0.45])
    found = paper_boundary(Evidence(canvas_tokens=6, sparsity=curve, units=10**6), tau_jump=0.03, gamma=1.0, window=3)
    assert found.boundary == 2
    assert found.score == pytest.approx(0.10 / 0.10)


@pytest.mark.parametrize(
    ("found", "canvas", "margin", "kept"), [(5, 64, 0, 6), (5, 64, 2, 8), (5, 7, 4, 7), (0, 8, 0, 1), (None, 8, 2, 8)]
)
def test_kept_tokens_never_exceed_the_canvas_and_are_never_none(
    found: int | None, canvas: int, margin: int, kept: int
) -> None:
    assert kept_tokens(found, canvas, margin) == kept


sparsities = st.lists(st.integers(0, 64).map(lambda count: count / 64), min_size=1, max_size=40)


@given(
    sparsities,
    st.sampled_from([1 / 64, 2 / 64, 0.03, 0.125, -0.01]),
    st.sampled_from([0.0, 0.4, 0.5, 0.6, 1.0, 3.0]),
    st.integers(1, 5),
)
def test_the_rule_equals_its_literal_twin(s: list[float], tau_jump: float, gamma: float, window: int) -> None:
    found = first_jump(np.array(s), tau_jump=tau_jump, gamma=gamma, window=window)
    assert found == literal_rule(s, tau_jump, gamma, window)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=40))
def test_the_rule_equals_its_literal_twin_on_any_float(s: list[float]) -> None:
    assert first_jump(np.array(s), tau_jump=0.03, gamma=0.6, window=3) == literal_rule(s, 0.03, 0.6, 3)
