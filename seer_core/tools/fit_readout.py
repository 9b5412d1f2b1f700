"""Fits the readout on one tapped tensor: ridge-regularised logistic regression on self-labelled positions.

Legend: M positions of all rows together, d units, R rows. The label of a position is whether it lies at or behind the
first end token of the untruncated run. No gradient goes through the model; it was run before.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits

from seer_core.probe.cost import Cost
from seer_core.probe.readout import readout_boundary, readout_scores
from seer_core.probe.rules import Readout
from seer_core.probe.statistic import Curve
from seer_core.tools.fit_paper import LOST_END
from seer_core.tools.scores import NO_BOUNDARY, BoundaryScore, Rows, Truth, best_of, folds_of, score

RIDGES = (1e-4, 1e-3, 1e-2)
CAUTIONS = (0.0, 1.0, 2.0)
"""Taken off every z. A margin adds tokens to every row; caution only to those where the evidence is weak."""

ANY = 1.0
FOLDS = 4
DEAD = 1e-12
"""A unit whose magnitude varies less than this says nothing; its weight stays zero."""

Weights = tuple[Tensor, float]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ReadoutFit:
    """Weights fitted on all rows; boundaries [R] and score are those of rows held out of the fit that found them.

    Only `ridge` and `caution`, nine pairs, were chosen by these very boundaries.
    """

    readout: Readout
    ridge: float
    boundaries: Rows
    score: BoundaryScore
    caution: float = 0.0

    @property
    def detector(self) -> str:
        return "readout"

    @property
    def rule(self) -> Readout:
        return self.readout

    @property
    def layer(self) -> int:
        return self.readout.layer

    @property
    def cost(self) -> Cost:
        return Cost(layers=self.readout.layer + 1)

    @property
    def unsafe(self) -> bool:
        """Never, since its errors are those on held-out rows, and its margin is chosen from them."""
        return False


def fit_readout(
    magnitudes: Sequence[Tensor],
    truth: Truth,
    *,
    layer: int,
    tensor: str,
    seed: int = 0,
    lost_end: float = LOST_END,
) -> ReadoutFit:
    """The readout on |a| [N_r, d] per row, with the ridge and the caution whose held-out boundaries cost least work.

    Every row is held out once (`FOLDS` folds of whole rows), so the error the margin is chosen from is an honest one.
    """
    folds = folds_of(len(magnitudes), FOLDS, seed)
    settings = list(product(RIDGES, CAUTIONS))
    scores = {ridge: _held_out_scores(magnitudes, truth, folds, ridge) for ridge in RIDGES}
    found = np.stack([_boundaries(scores[ridge], caution) for ridge, caution in settings])  # [C, R]
    best = best_of(found, truth, lost_end=lost_end, most_over_truncation=ANY)
    ridge, caution = settings[best]
    boundaries = found[best]  # [R]
    weights, bias = fit_logistic(*_positions(magnitudes, truth, np.arange(len(magnitudes))), ridge=ridge)
    readout = Readout(layer=layer, tensor=tensor, weights=tuple(weights.tolist()), bias=bias - caution)
    return ReadoutFit(
        readout=readout, ridge=ridge, caution=caution, boundaries=boundaries, score=score(boundaries, truth)
    )


def fit_logistic(features: Tensor, labels: Tensor, *, ridge: float) -> Weights:
    """Weights [d] and bias for raw features [M, d] and labels [M] in {0, 1}.

    Both classes weigh the same in sum, so that z = 0 is where the evidence is even. The ridge acts on standardised
    features; the standardisation is folded into what is returned.
    """
    mean, deviation = features.mean(0), features.std(0, correction=0)
    alive = deviation > DEAD
    scale = torch.where(alive, 1.0 / deviation.clamp_min(DEAD), 0.0)
    standard = (features - mean) * scale
    share = labels.mean().clamp(1e-6, 1 - 1e-6)
    balance = torch.where(labels > 0.5, 0.5 / share, 0.5 / (1 - share))
    weights, bias = _minimise(standard, labels, balance, ridge)
    folded = weights * scale
    return folded, float(bias - folded @ mean)


def _minimise(features: Tensor, labels: Tensor, balance: Tensor, ridge: float) -> tuple[Tensor, Tensor]:
    weights = torch.zeros(features.shape[1], requires_grad=True)
    bias = torch.zeros((), requires_grad=True)
    search = torch.optim.LBFGS([weights, bias], max_iter=60, history_size=10, line_search_fn="strong_wolfe")

    def loss() -> Tensor:
        search.zero_grad()
        fit = binary_cross_entropy_with_logits(features @ weights + bias, labels, weight=balance)
        value = fit + ridge * weights.square().sum()
        value.backward()
        return value

    search.step(loss)
    return weights.detach(), bias.detach()


def _held_out_scores(magnitudes: Sequence[Tensor], truth: Truth, folds: Rows, ridge: float) -> list[Curve]:
    """z [N_r] of every row, by weights fitted on the other folds."""
    scores: dict[int, Curve] = {}
    for fold in range(int(folds.max()) + 1):
        inside = np.flatnonzero(folds != fold)
        outside: list[int] = np.flatnonzero(folds == fold).tolist()
        weights, bias = fit_logistic(*_positions(magnitudes, truth, inside), ridge=ridge)
        for row in outside:
            z = readout_scores(magnitudes[row], weights, bias)
            scores[row] = np.asarray(z.double().numpy(), np.float64)
    return [scores[row] for row in range(len(magnitudes))]


def _boundaries(scores: Sequence[Curve], caution: float) -> Rows:
    found = [readout_boundary(z - caution).boundary for z in scores]
    return np.array([NO_BOUNDARY if boundary is None else boundary for boundary in found])


def _positions(magnitudes: Sequence[Tensor], truth: Truth, rows: Rows) -> tuple[Tensor, Tensor]:
    chosen: list[int] = rows.tolist()
    labels = [torch.arange(len(magnitudes[row])) >= int(truth.end[row]) for row in chosen]
    return torch.cat([magnitudes[row] for row in chosen]), torch.cat(labels).float()
