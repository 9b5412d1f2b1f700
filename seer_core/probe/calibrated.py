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


def relapses(centred: Curve, window: int, starts: NDArray[np.int64]) -> Curve:
    """For each i of `starts` [M], 1 <= i <= N - w: the share of positions i .. N - 1 that have fallen back, [M]."""
    jump, _ = jumps(centred, window)
    floors = centred[starts - 1] + FALLEN * jump[starts - 1]
    behind = np.arange(len(centred)) >= starts[:, None]  # [M, N]
    fallen = behind & (centred < floors[:, None])
    share: Curve = fallen.sum(1) / behind.sum(1)
    return share


def calibrated_boundary(centred: Curve, rule: CalibratedRule) -> Detection:
    """The first i that passes the thresholds and both guards, `shift_tokens` earlier; scored by its jump.

    A score of 1 is a jump of the threshold's height.
    """
    jump, noise = jumps(centred, rule.window)
    follow = len(centred) - np.arange(1, len(jump) + 1)
    loud = (jump >= rule.tau_jump) & (noise <= rule.gamma * jump) & (follow >= rule.plateau_tokens)
    starts = np.flatnonzero(loud) + 1
    steady = starts[relapses(centred, rule.window, starts) <= rule.relapse]
    if not steady.size:
        return NOTHING
    start = int(steady[0])
    return Detection(boundary=max(0, start - rule.shift_tokens), score=float(jump[start - 1]) / rule.tau_jump)
