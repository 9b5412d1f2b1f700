"""Fits the detectors that read end probabilities: smartcrop's threshold, and dual's on top of an activation detector.

Legend: R rows, N_r canvas of a row, C settings.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from seer_core.probe.boundary import Detection
from seer_core.probe.cost import WHOLE_STEP, Cost
from seer_core.probe.ended import dual_boundary, first_end_boundary, smartcrop_boundary
from seer_core.probe.rules import DualRule, FirstEndRule, SmartCropRule
from seer_core.probe.statistic import Curve
from seer_core.tools.fit_paper import LOST_END
from seer_core.tools.scores import NO_BOUNDARY, BoundaryScore, Rows, Truth, best_of, folds_of, held_out, score

THRESHOLDS = (0.9999, 0.999, 0.995, 0.99, 0.98, 0.95, 0.9, 0.8, 0.7, 0.5, 0.3)
"""The most careful first: of settings that do equally well on these rows it does no worse on others."""

AGREE = (0, 1, 2, 4, 8)
FOLDS = 4
ANY = 1.0
"""A threshold can always be raised, so none is ruled out before its margin."""

EndRule = FirstEndRule | SmartCropRule | DualRule


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Endings:
    """Per row, end probability [N_r] at step 0 and whether the likeliest token is an end token [N_r]."""

    probability: Sequence[Curve]
    likeliest: Sequence[NDArray[np.bool_]]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class EndFit:
    """A rule that is best on all rows; boundaries [R] and score are those of settings fitted on other rows."""

    detector: str
    rule: EndRule
    boundaries: Rows
    score: BoundaryScore

    @property
    def cost(self) -> Cost:
        return WHOLE_STEP

    @property
    def unsafe(self) -> bool:
        """Never, since its errors are those on held-out rows, and its margin is chosen from them."""
        return False


def fit_first_end(endings: Endings, truth: Truth) -> EndFit:
    """There is nothing to fit."""
    rows = zip(endings.likeliest, endings.probability, strict=True)
    found = _rows([first_end_boundary(likeliest, probability) for likeliest, probability in rows])
    return EndFit(detector="first_end", rule=FirstEndRule(), boundaries=found, score=score(found, truth))


def fit_smartcrop(endings: Endings, truth: Truth, *, lost_end: float = LOST_END) -> EndFit:
    """The threshold with the least work under its smallest margin."""
    rules = [SmartCropRule(threshold=threshold) for threshold in THRESHOLDS]
    found = np.stack(
        [_rows([smartcrop_boundary(row, threshold=rule.threshold) for row in endings.probability]) for rule in rules]
    )
    return _fit("smartcrop", rules, found, truth, lost_end)


def fit_dual(
    endings: Endings, activation: str, boundaries: Rows, truth: Truth, *, lost_end: float = LOST_END
) -> EndFit:
    """Threshold and agreement, given what detector `activation` found [R] on rows it was not fitted on."""
    rules = [
        DualRule(activation=activation, threshold=threshold, agree_tokens=agree)
        for threshold, agree in product(THRESHOLDS, AGREE)
    ]
    seen = [Detection(boundary=None if b == NO_BOUNDARY else int(b), score=0.0) for b in boundaries]
    found = np.stack(
        [
            _rows([dual_boundary(one, row, rule) for one, row in zip(seen, endings.probability, strict=True)])
            for rule in rules
        ]
    )
    return _fit("dual", rules, found, truth, lost_end)


def _fit(detector: str, rules: Sequence[EndRule], found: Rows, truth: Truth, lost_end: float) -> EndFit:
    best = best_of(found, truth, lost_end=lost_end, most_over_truncation=ANY)
    folds = folds_of(len(truth.end), FOLDS)
    honest = held_out(found, truth, folds, lost_end=lost_end, most_over_truncation=ANY)
    return EndFit(detector=detector, rule=rules[best], boundaries=honest, score=score(honest, truth))


def _rows(detections: Sequence[Detection]) -> Rows:
    return np.array([NO_BOUNDARY if one.boundary is None else one.boundary for one in detections])
