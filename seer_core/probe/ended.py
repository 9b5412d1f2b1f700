"""The detectors that read the model's own end probabilities at step 0: `first_end`, `smartcrop`, `dual`.

Legend: N canvas positions. Pure numbers: where the probabilities come from is `end_tokens.py`'s business.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from seer_core.probe.boundary import NOTHING, Detection
from seer_core.probe.rules import DualRule
from seer_core.probe.statistic import Curve

CERTAIN = 1e-9
"""Log odds are taken this far from certainty, so that they stay numbers."""


def ended_by(end_probability: Curve) -> Curve:
    """`P(ended by i) = 1 - prod_{j<=i} (1 - P_j(end))`, [N], never falling."""
    going_on: Curve = np.cumprod(1.0 - end_probability, dtype=np.float64)
    return 1.0 - going_on


def first_end_boundary(end_likeliest: NDArray[np.bool_], end_probability: Curve) -> Detection:
    """The first position whose likeliest token ends the answer, scored by its end probability."""
    if not end_likeliest.any():
        return NOTHING
    boundary = int(np.argmax(end_likeliest))
    return Detection(boundary=boundary, score=float(end_probability[boundary]))


def smartcrop_boundary(end_probability: Curve, *, threshold: float) -> Detection:
    """First position by which the answer has ended with a probability of `threshold`; scored by that probability."""
    ended = ended_by(end_probability)
    passed = ended >= threshold
    if not passed.any():
        return NOTHING
    boundary = int(np.argmax(passed))
    return Detection(boundary=boundary, score=float(ended[boundary]))


def dual_boundary(activation: Detection, end_probability: Curve, rule: DualRule) -> Detection:
    """Both must see an end. Scored by the activations' score and the log odds that the answer has ended by there."""
    end = smartcrop_boundary(end_probability, threshold=rule.threshold)
    if activation.boundary is None or end.boundary is None:
        return NOTHING
    apart = abs(activation.boundary - end.boundary)
    boundary = activation.boundary if apart <= rule.agree_tokens else max(activation.boundary, end.boundary)
    return Detection(boundary=boundary, score=activation.score + log_odds(float(ended_by(end_probability)[boundary])))


def log_odds(probability: float) -> float:
    """Finite for any probability."""
    inside = min(max(probability, CERTAIN), 1.0 - CERTAIN)
    return math.log(inside / (1.0 - inside))
