from __future__ import annotations

import numpy as np

from seer_core.probe.cost import WHOLE_STEP
from seer_core.probe.rules import DualRule, FirstEndRule, SmartCropRule
from seer_core.tools.fit_ended import THRESHOLDS, Endings, fit_dual, fit_first_end, fit_smartcrop
from seer_core.tools.scores import NO_BOUNDARY, Rows, Truth

ROWS = 24
TRUTH = Truth(canvas=np.full(ROWS, 16), end=np.where(np.arange(ROWS) % 6 == 0, 16, 4 + np.arange(ROWS) % 5))
EXACT = np.where(TRUTH.end < 16, TRUTH.end, NO_BOUNDARY)


def endings(rumour: float = 0.0) -> Endings:
    """Sure behind the end; three slots before it a rumour of an end."""
    places = np.arange(16)
    probability = [np.where(places >= end, 0.9999, np.where(places == end - 3, rumour, 0.0)) for end in TRUTH.end]
    return Endings(probability=probability, likeliest=[row > 0.5 for row in probability])


def test_the_threshold_lies_above_a_rumour() -> None:
    fit = fit_smartcrop(endings(rumour=0.92), TRUTH)
    assert isinstance(fit.rule, SmartCropRule)
    assert fit.rule.threshold > 0.92
    assert (fit.score.cost_tokens, fit.score.over_truncation, fit.cost) == (0.0, 0.0, WHOLE_STEP)


def test_of_thresholds_that_do_equally_well_the_most_careful_is_kept() -> None:
    fit = fit_smartcrop(endings(), TRUTH)
    assert isinstance(fit.rule, SmartCropRule)
    assert fit.rule.threshold == max(THRESHOLDS)


def test_first_end_believes_a_rumour_and_has_nothing_to_be_fitted() -> None:
    fit = fit_first_end(endings(rumour=0.6), TRUTH)
    assert (fit.detector, fit.rule) == ("first_end", FirstEndRule())
    assert (fit.boundaries[EXACT != NO_BOUNDARY] == TRUTH.end[EXACT != NO_BOUNDARY] - 3).all()


def test_dual_takes_the_later_word_where_the_activations_are_early() -> None:
    early: Rows = np.where(EXACT == NO_BOUNDARY, NO_BOUNDARY, EXACT - 1)
    fit = fit_dual(endings(), "readout", early, TRUTH)
    assert isinstance(fit.rule, DualRule)
    assert (fit.rule.activation, fit.rule.agree_tokens) == ("readout", 0)
    assert fit.boundaries.tolist() == EXACT.tolist()


def test_dual_leaves_a_canvas_whole_where_the_activations_see_no_end() -> None:
    fit = fit_dual(endings(), "paper", np.full(ROWS, NO_BOUNDARY), TRUTH)
    assert (fit.boundaries == NO_BOUNDARY).all()
