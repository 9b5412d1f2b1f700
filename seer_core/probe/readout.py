"""The calibrated readout: the same early activations as the paper's statistic, with every unit weighted on its own.

Legend: d units, N canvas positions. `z_i = w . |a_i| + b` is the log odds that position i is at or behind the first
end token; standardisation of the features is folded into w and b by whoever fits them.
"""

from __future__ import annotations

import numpy as np
from torch import Tensor

from seer_core.probe.boundary import NOTHING, Detection
from seer_core.probe.statistic import Curve

CLIP = 6.0
"""One position may not outvote the rest: odds beyond 400 to 1 count as that."""


def readout_scores(activations: Tensor, weights: Tensor, bias: float) -> Tensor:
    """z: any float dtype [..., d], weights float32 [d] -> float32 [...]."""
    return activations.float().abs() @ weights + bias


def suffix_evidence(scores: Curve) -> Curve:
    """`sum_{i >= b} clip(z_i)` for every split b: [..., N] -> [..., N]."""
    clipped = np.clip(scores, -CLIP, CLIP)
    return np.flip(np.cumsum(np.flip(clipped, -1), -1), -1)


def readout_boundary(scores: Curve) -> Detection:
    """The split of z [N] with the highest two-segment likelihood, scored by its log odds against no end at all.

    Nothing where no split is better than none. Of equal splits the later is taken: it keeps more of the answer.
    """
    evidence = suffix_evidence(scores)
    boundary = len(evidence) - 1 - int(np.argmax(evidence[::-1]))
    best = float(evidence[boundary])
    return Detection(boundary=boundary, score=best) if best > 0.0 else NOTHING
