from __future__ import annotations

from dataclasses import replace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from seer_core.probe.boundary import NOTHING
from seer_core.probe.calibrated import FALLEN, calibrated_boundary, centre, relapses
from seer_core.probe.rules import CalibratedRule
from seer_core.probe.statistic import jumps

RULE = CalibratedRule(
    layer=1,
    tensor="mlp",
    eps=0.1,
    tau_jump=0.1,
    gamma=0.6,
    baseline=(0.0,),
    plateau_tokens=0,
    relapse=1.0,
)


def boundary(*centred: float, rule: CalibratedRule = RULE) -> int | None:
    return calibrated_boundary(np.array(centred), rule).boundary


def literal_rule(s: list[float], rule: CalibratedRule) -> int | None:
    """The rule word by word: the first window that jumps, is calm, is long enough and does not fall back."""
    for i in range(1, len(s) - rule.window + 1):
        window = s[i : i + rule.window]
        jump, noise = min(window) - s[i - 1], max(window) - min(window)
        behind = s[i:]
        fallen = [value for value in behind if value < s[i - 1] + FALLEN * jump]
        loud = jump >= rule.tau_jump and noise <= rule.gamma * jump
        if loud and len(behind) >= rule.plateau_tokens and len(fallen) / len(behind) <= rule.relapse:
            return max(0, i - rule.shift_tokens)
    return None


def test_a_ripple_that_is_in_every_canvas_is_taken_off() -> None:
    ripple = np.array([0.1, 0.3, 0.1, 0.3, 0.1, 0.3, 0.1, 0.3])
    answer = np.array([-0.2, -0.2, -0.2, 0.0, 0.0, 0.0, 0.0, 0.0])
    seen = centre(ripple + answer, tuple(ripple.tolist()))
    assert calibrated_boundary(seen, RULE).boundary == 3
    assert calibrated_boundary(ripple + answer, RULE).boundary != 3


def test_positions_behind_the_baseline_take_its_last_value() -> None:
    assert centre(np.full(4, 0.5), (0.1, 0.2)).tolist() == [0.4, 0.3, 0.3, 0.3]


def test_a_jump_too_near_the_end_of_the_canvas_does_not_count() -> None:
    curve = (0.0, 0.0, 0.0, 0.4, 0.4, 0.4)
    assert boundary(*curve) == 3
    assert boundary(*curve, rule=replace(RULE, plateau_tokens=4)) is None


def test_a_jump_whose_plateau_falls_back_is_passed_over_for_a_later_one() -> None:
    curve = (0.0, 0.4, 0.4, 0.4, 0.0, 0.0, 0.4, 0.4, 0.4, 0.4)
    assert boundary(*curve) == 1
    assert boundary(*curve, rule=replace(RULE, relapse=0.1)) == 6


def test_the_end_token_lies_before_the_plateau_by_the_shift() -> None:
    curve = (0.0, 0.0, 0.0, 0.4, 0.4, 0.4)
    assert boundary(*curve, rule=replace(RULE, shift_tokens=1)) == 2
    assert boundary(*curve, rule=replace(RULE, shift_tokens=9)) == 0


def test_the_score_is_the_jump_in_thresholds() -> None:
    assert calibrated_boundary(np.array([0.0, 0.3, 0.3, 0.3]), replace(RULE, tau_jump=0.1)).score == 0.3 / 0.1


def test_a_canvas_without_room_for_a_window_has_no_boundary() -> None:
    assert calibrated_boundary(np.array([0.0, 0.4, 0.4]), RULE) == NOTHING


sparsities = st.lists(st.integers(0, 16).map(lambda count: count / 16), min_size=1, max_size=30)


@given(
    sparsities,
    st.sampled_from([1 / 16, 0.125, 0.25]),
    st.sampled_from([0.0, 0.5, 2.0]),
    st.integers(0, 6),
    st.sampled_from([0.0, 0.25, 1.0]),
    st.integers(0, 2),
)
def test_the_rule_equals_its_literal_twin(
    s: list[float], tau: float, gamma: float, plateau: int, relapse: float, shift: int
) -> None:
    rule = replace(RULE, tau_jump=tau, gamma=gamma, plateau_tokens=plateau, relapse=relapse, shift_tokens=shift)
    assert calibrated_boundary(np.array(s), rule).boundary == literal_rule(s, rule)


def test_relapses_of_chosen_starts_are_those_of_all() -> None:
    curve = np.random.default_rng(0).random(12)
    starts = np.arange(1, len(jumps(curve, 3)[0]) + 1)
    assert relapses(curve, 3, starts)[[2, 5]].tolist() == relapses(curve, 3, starts[[2, 5]]).tolist()
