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
from seer_core.probe.readout import readout_boundary
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
    scores = {ridge: held_out_scores(magnitudes, truth, folds, ridge=ridge) for ridge in RIDGES}
    found = np.stack([boundaries_of(scores[ridge], caution) for ridge, caution in settings])  # [C, R]
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


def held_out_scores(features: Sequence[Tensor], truth: Truth, folds: Rows, *, ridge: float) -> list[Curve]:
    """z [N_r] of every row, by weights fitted on the other `folds` [R]."""
    scores: dict[int, Curve] = {}
    for fold in np.unique(folds):
        outside = np.flatnonzero(folds == fold)
        own = scores_elsewhere(features, truth, inside=np.flatnonzero(folds != fold), outside=outside, ridge=ridge)
        scores.update(zip(outside.tolist(), own, strict=True))
    return [scores[row] for row in range(len(features))]


def scores_elsewhere(
    features: Sequence[Tensor], truth: Truth, *, inside: Rows, outside: Rows, ridge: float
) -> list[Curve]:
    """z [N_r] of the rows `outside`, by weights fitted on the rows `inside`; `features` [N_r, d] may have any sign."""
    weights, bias = fit_logistic(*_positions(features, truth, inside), ridge=ridge)
    chosen: list[int] = outside.tolist()
    return [np.asarray((features[row] @ weights + bias).double().numpy(), np.float64) for row in chosen]


def boundaries_of(scores: Sequence[Curve], caution: float = 0.0) -> Rows:
    """The boundary [R] of every row's z, `caution` taken off it."""
    found = [readout_boundary(z - caution).boundary for z in scores]
    return np.array([NO_BOUNDARY if boundary is None else boundary for boundary in found], np.int64)


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


def _positions(features: Sequence[Tensor], truth: Truth, rows: Rows) -> tuple[Tensor, Tensor]:
    chosen: list[int] = rows.tolist()
    labels = [torch.arange(len(features[row])) >= int(truth.end[row]) for row in chosen]
    return torch.cat([features[row] for row in chosen]), torch.cat(labels).float()
