"""Fits the calibrated rule on one tapped tensor: eps, baseline, thresholds, guards and shift by grid search.

Legend: R rows, N longest canvas, w window, C settings of the grid.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np
from torch import Tensor

from seer_core.kernels.sparsity import sparsity
from seer_core.probe.calibrated import centre, relapses
from seer_core.probe.cost import Cost
from seer_core.probe.rules import CalibratedRule
from seer_core.probe.statistic import Curve, jumps
from seer_core.tools.fit_paper import LOST_END, MOST_OVER_TRUNCATION, eps_grid
from seer_core.tools.scores import NO_BOUNDARY, BoundaryScore, Rows, Truth, best_of, folds_of, held_out, score

TAUS = (0.02, 0.03, 0.04, 0.06, 0.08, 0.12, 0.16, 0.24, 0.32, 0.48)
GAMMAS = (0.2, 0.4, 0.6, 1.0, 1.5, 2.0, 3.0)
PLATEAUS = (3, 6)
RELAPSES = (0.0, 0.15, 1.0)
MOST_SHIFT = 3
FOLDS = 4
ENOUGH_ROWS = 5
"""A position's baseline is its own only where so many canvases show fill there."""

Baseline = tuple[float, ...]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CalibratedFit:
    """The rule that is best on all rows; boundaries [R] and score are those of thresholds fitted on other rows."""

    rule: CalibratedRule
    boundaries: Rows
    score: BoundaryScore

    @property
    def detector(self) -> str:
        return "calibrated"

    @property
    def layer(self) -> int:
        return self.rule.layer

    @property
    def cost(self) -> Cost:
        return Cost(layers=self.rule.layer + 1)

    @property
    def unsafe(self) -> bool:
        """Never, since its errors are those on held-out rows, and its margin is chosen from them."""
        return False


def fit_calibrated(
    magnitudes: Sequence[Tensor],
    truth: Truth,
    *,
    layer: int,
    tensor: str,
    window: int = 3,
    lost_end: float = LOST_END,
) -> CalibratedFit:
    """The best rule on |a| [N_r, d] per row, by the measure of `fit_paper`, with a baseline and without one."""
    rules: list[CalibratedRule] = []
    found: list[Rows] = []
    for eps in eps_grid(magnitudes):
        curves = [sparsity(values, eps).numpy() for values in magnitudes]
        for baseline in ((0.0,), fill_baseline(curves, truth)):
            rule = CalibratedRule(
                layer=layer, tensor=tensor, eps=eps, tau_jump=TAUS[0], gamma=GAMMAS[0], baseline=baseline, window=window
            )
            settings, boundaries = _grid([centre(curve, baseline) for curve in curves], truth, rule)
            rules += settings
            found.append(boundaries)
    return _best(rules, np.concatenate(found), truth, lost_end)


def fill_baseline(curves: Sequence[Curve], truth: Truth) -> Baseline:
    """Median sparsity of fill at each position, rounded; where too few canvases show it, that of all fill."""
    fill = np.full((len(curves), int(truth.canvas.max())), np.nan)
    for row, curve in enumerate(curves):
        fill[row, truth.end[row] : len(curve)] = curve[truth.end[row] :]
    seen = ~np.isnan(fill)
    overall = float(np.median(fill[seen])) if seen.any() else 0.0
    levels = [
        float(np.median(column[known])) if known.sum() >= ENOUGH_ROWS else overall
        for column, known in zip(fill.T, seen.T, strict=True)
    ]
    return tuple(round(level, 5) for level in (*levels, overall))


def _grid(centred: Sequence[Curve], truth: Truth, rule: CalibratedRule) -> tuple[list[CalibratedRule], Rows]:
    """Every setting of the grid and its boundaries [C, R], each with the shift that suits it best."""
    settings = list(product(TAUS, GAMMAS, PLATEAUS, RELAPSES))
    starts = np.stack([_starts(curve, rule.window) for curve in centred], axis=1)  # [C, R]
    rules = [
        replace(rule, tau_jump=tau, gamma=gamma, plateau_tokens=plateau, relapse=relapse)
        for tau, gamma, plateau, relapse in settings
    ]
    shifts = [_shift(row, truth) for row in starts]
    shifted = [
        np.where(row == NO_BOUNDARY, NO_BOUNDARY, np.maximum(0, row - shift))
        for row, shift in zip(starts, shifts, strict=True)
    ]
    return [replace(one, shift_tokens=shift) for one, shift in zip(rules, shifts, strict=True)], np.stack(shifted)


def _starts(centred: Curve, window: int) -> Rows:
    """Where the jump of one curve lies under each setting, [C]: `probe.calibrated.calibrated_boundary` on a grid."""
    jump, noise = jumps(centred, window)
    candidates = np.flatnonzero((jump >= TAUS[0]) & (noise <= GAMMAS[-1] * jump)) + 1
    height, ripple = jump[candidates - 1], noise[candidates - 1]
    fallen = relapses(centred, window, candidates)
    follow = len(centred) - candidates
    high = height >= np.array(TAUS)[:, None]
    calm = ripple <= np.array(GAMMAS)[:, None] * height
    long = follow >= np.array(PLATEAUS)[:, None]
    firm = fallen <= np.array(RELAPSES)[:, None]
    fits = high[:, None, None, None] & calm[:, None, None] & long[:, None] & firm  # [T, G, P, Q, candidates]
    flat = fits.reshape(len(TAUS) * len(GAMMAS) * len(PLATEAUS) * len(RELAPSES), len(candidates))
    if not candidates.size:
        return np.full(len(flat), NO_BOUNDARY)
    return np.where(flat.any(-1), candidates[flat.argmax(-1)], NO_BOUNDARY)


def _shift(starts: Rows, truth: Truth) -> int:
    """How far behind the end the jump usually lies."""
    late = (starts - truth.end)[(starts != NO_BOUNDARY) & (truth.end < truth.canvas)]
    return int(np.clip(np.median(late), 0, MOST_SHIFT)) if late.size else 0


def _best(rules: Sequence[CalibratedRule], found: Rows, truth: Truth, lost_end: float) -> CalibratedFit:
    best = best_of(found, truth, lost_end=lost_end, most_over_truncation=MOST_OVER_TRUNCATION)
    honest = held_out(
        found, truth, folds_of(len(truth.end), FOLDS), lost_end=lost_end, most_over_truncation=MOST_OVER_TRUNCATION
    )
    return CalibratedFit(rule=rules[best], boundaries=honest, score=score(honest, truth))
