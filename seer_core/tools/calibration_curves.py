"""The curves of a calibration's report: sparsity by layer around the end, and the paper's two dials.

Legend: O offsets from the first end token, T and G thresholds tried.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from torch import Tensor

from seer_core.kernels.sparsity import sparsity
from seer_core.probe.profile import Profile
from seer_core.probe.rules import PaperRule
from seer_core.probe.statistic import Curve
from seer_core.tools.fit_paper import GAMMAS, TAUS, boundaries_on_grid, pad_curves
from seer_core.tools.labelled import Labelled, layer_curves, magnitudes
from seer_core.tools.scores import Rows, Truth, score
from seer_core.tools.stages import Stages

Report = dict[str, object]

REACH = 16
"""Slots on either side of the first end token."""

MOST_ROWS = 64
"""The heat map needs no more: it is a mean."""


def curves_of(stages: Stages, labelled: Labelled, profile: Profile, *, batch_rows: int) -> Report:
    """`heat` at the tensor and eps of the calibrated rule, `dials` at the paper rule's tap."""
    rule = profile.paper if profile.calibrated_rule is None else profile.calibrated_rule
    truth = labelled.truth
    rows = np.flatnonzero(truth.end < truth.canvas)[:MOST_ROWS]
    curves = layer_curves(stages, labelled, rows.tolist(), tensor=rule.tensor, eps=rule.eps, batch_rows=batch_rows)
    paper = profile.paper
    seen = magnitudes(stages, labelled, layer=paper.layer, tensors=(paper.tensor,), batch_rows=batch_rows)
    return {
        "heat": {
            "tensor": rule.tensor,
            "eps": rule.eps,
            "offsets": list(range(-REACH, REACH + 1)),
            "sparsity": [_around(layer, truth.end[rows]) for layer in curves],
        },
        "dials": dials(seen[paper.tensor], truth, paper),
    }


def dials(seen: Sequence[Tensor], truth: Truth, rule: PaperRule) -> Report:
    """What each tau x gamma would give without a margin: over-truncation and positions saved, [T][G] each."""
    curves = pad_curves([sparsity(values, rule.eps).numpy() for values in seen])
    found = boundaries_on_grid(curves, truth.canvas, taus=TAUS, gammas=GAMMAS, window=rule.window)
    scores = [[score(found[t, g], truth) for g in range(len(GAMMAS))] for t in range(len(TAUS))]
    canvas = float(truth.canvas.mean())
    return {
        "layer": rule.layer,
        "tensor": rule.tensor,
        "eps": rule.eps,
        "taus": list(TAUS),
        "gammas": list(GAMMAS),
        "chosen": [rule.tau_jump, rule.gamma],
        "over_truncation": [[one.over_truncation for one in row] for row in scores],
        "positions_saved": [[1.0 - one.kept_tokens / canvas for one in row] for row in scores],
    }


def _around(curves: Sequence[Curve], ends: Rows) -> list[float | None]:
    """Mean over rows at each offset from the row's end, [O]; None where no canvas reaches."""
    aligned = np.full((len(curves), 2 * REACH + 1), np.nan)
    for row, (curve, end) in enumerate(zip(curves, ends.tolist(), strict=True)):
        first, last = max(0, end - REACH), min(len(curve), end + REACH + 1)
        aligned[row, first - end + REACH : last - end + REACH] = curve[first:last]
    counts = (~np.isnan(aligned)).sum(0)
    sums = np.nansum(aligned, 0)
    return [float(total / count) if count else None for total, count in zip(sums, counts, strict=True)]
