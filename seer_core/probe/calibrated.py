"""The `calibrated` detector: the paper's jump on a sparsity whose per-position baseline is taken off, with two guards.

A plateau ripples with the position, the same in every canvas (the mirror image is the steep rise over the first
positions that real checkpoints show); what is left after the baseline is what this canvas has to say. A jump counts
only where enough positions follow it and few of them fall back.

Legend: N canvas positions, w window. Pure numbers.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from seer_core.probe.boundary import NOTHING, Detection
from seer_core.probe.rules import CalibratedRule
from seer_core.probe.statistic import Curve, jumps

FALLEN = 0.25
"""A position behind the jump has fallen back where it lies less than this share of the jump above the left side."""


def centre(sparsity: Curve, baseline: Sequence[float]) -> Curve:
    """`s_i - baseline_i` [N]; positions behind the baseline's last take that one's."""
    expected = np.asarray(baseline, np.float64)
    centred: Curve = sparsity - expected[np.minimum(np.arange(len(sparsity)), len(expected) - 1)]
    return centred


def relapses(centred: Curve, window: int) -> Curve:
    """For i = 1 .. N - w: the share of positions i .. N - 1 that have fallen back, [N - w]."""
    jump, _ = jumps(centred, window)
    starts = np.arange(1, len(jump) + 1)
    floors = centred[starts - 1] + FALLEN * jump
    behind = np.arange(len(centred)) >= starts[:, None]  # [N - w, N]
    fallen = behind & (centred < floors[:, None])
    share: Curve = fallen.sum(1) / behind.sum(1)
    return share


def matches(centred: Curve, rule: CalibratedRule) -> NDArray[np.int64]:
    """Every i in 1 .. N - w that passes the thresholds and both guards, ascending."""
    jump, noise = jumps(centred, rule.window)
    follow = len(centred) - np.arange(1, len(jump) + 1)
    loud = (jump >= rule.tau_jump) & (noise <= rule.gamma * jump)
    steady = (relapses(centred, rule.window) <= rule.relapse) & (follow >= rule.plateau_tokens)
    return np.flatnonzero(loud & steady) + 1


def calibrated_boundary(centred: Curve, rule: CalibratedRule) -> Detection:
    """The first match, `shift_tokens` earlier; scored by how many times its jump is the threshold."""
    found = matches(centred, rule)
    if not found.size:
        return NOTHING
    jump, _ = jumps(centred, rule.window)
    score = float(jump[found[0] - 1]) / rule.tau_jump if rule.tau_jump > 0 else float(jump[found[0] - 1])
    return Detection(boundary=max(0, int(found[0]) - rule.shift_tokens), score=score)
