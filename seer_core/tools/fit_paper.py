"""Fits the paper's rule on one tapped tensor: eps, tau and gamma by grid search on self-labelled canvases.

Legend: R rows, N longest canvas, d units, E, T, G grid sizes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from seer_core.kernels.sparsity import sparsity
from seer_core.probe.cost import Cost
from seer_core.probe.rules import PaperRule
from seer_core.probe.statistic import Curve, jumps
from seer_core.tools.scores import NO_BOUNDARY, BoundaryScore, Rows, Truth, best_of, score

QUANTILES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95)
"""eps is tried at these quantiles of |a| inside the canvases. Most of a long canvas is fill, and fill is quiet: an eps
that tells an answer from fill lies far above the middle."""

TAUS = (0.01, 0.02, 0.03, 0.04, 0.06, 0.08, 0.12, 0.16, 0.24, 0.32, 0.48)
GAMMAS = (0.2, 0.4, 0.6, 0.8, 1.0, 1.5, 2.0)
MOST_OVER_TRUNCATION = 0.01
LOST_END = 0.005


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PaperFit:
    """A rule, the boundaries [R] it finds on the rows it was fitted on, and how good they are without a margin."""

    rule: PaperRule
    boundaries: Rows
    score: BoundaryScore

    @property
    def detector(self) -> str:
        return "paper"

    @property
    def layer(self) -> int:
        return self.rule.layer

    @property
    def cost(self) -> Cost:
        return Cost(layers=self.rule.layer + 1)

    @property
    def unsafe(self) -> bool:
        """Whether the rule over-truncates too often to be preferred to any that does not."""
        return self.score.over_truncation > MOST_OVER_TRUNCATION


def fit_paper(
    magnitudes: Sequence[Tensor],
    truth: Truth,
    *,
    layer: int,
    tensor: str,
    window: int = 3,
    lost_end: float = LOST_END,
) -> PaperFit:
    """The best rule on |a| [N_r, d] per row: the least work under its smallest margin, of those that are safe."""
    rules: list[PaperRule] = []
    found: list[Rows] = []
    for eps in eps_grid(magnitudes):
        curves = pad_curves([sparsity(values, eps).numpy() for values in magnitudes])
        found.append(
            boundaries_on_grid(curves, truth.canvas, taus=TAUS, gammas=GAMMAS, window=window).reshape(-1, len(curves))
        )
        rules += [
            PaperRule(layer=layer, tensor=tensor, eps=eps, tau_jump=tau, gamma=gamma, window=window)
            for tau in TAUS
            for gamma in GAMMAS
        ]
    all_found = np.concatenate(found)  # [E * T * G, R]
    best = best_of(all_found, truth, lost_end=lost_end, most_over_truncation=MOST_OVER_TRUNCATION)
    return PaperFit(rule=rules[best], boundaries=all_found[best], score=score(all_found[best], truth))


def boundaries_on_grid(
    curves: Curve, canvas: Rows, *, taus: Sequence[float], gammas: Sequence[float], window: int
) -> Rows:
    """`probe.boundary.first_jump` of curves [R, N], padded behind `canvas` [R], for every tau and gamma: [T, G, R]."""
    jump, noise = jumps(curves, window)  # [R, N - w]
    if jump.shape[1] == 0:
        return np.full((len(taus), len(gammas), len(curves)), NO_BOUNDARY)
    inside = np.arange(1, jump.shape[1] + 1) <= (canvas - window)[:, None]
    high = jump >= np.asarray(taus)[:, None, None]  # [T, R, N - w]
    calm = noise <= np.asarray(gammas)[:, None, None] * jump  # [G, R, N - w]
    matches = high[:, None] & calm[None] & inside
    return np.where(matches.any(-1), matches.argmax(-1) + 1, NO_BOUNDARY)


def pad_curves(curves: Sequence[Curve]) -> Curve:
    """Curves [N_r] -> one array [R, N], zeros behind each."""
    padded = np.zeros((len(curves), max(len(curve) for curve in curves)))
    for row, curve in enumerate(curves):
        padded[row, : len(curve)] = curve
    return padded


def eps_grid(magnitudes: Sequence[Tensor]) -> list[float]:
    """Thresholds to try, each rounded to three digits: a threshold people can read back from the profile."""
    sample = torch.cat([values[::7].flatten() for values in magnitudes]).sort().values
    picks = [float(sample[int(q * (len(sample) - 1))]) for q in QUANTILES]
    return sorted({float(f"{eps:.3g}") for eps in picks if eps > 0})
