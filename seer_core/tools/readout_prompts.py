"""How few prompts a readout needs, and how large a margin its own error asks for. Several draws of rows each.

Legend: R rows, N_r canvas of a row, d units.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from itertools import product
from typing import Any

import numpy as np
from torch import Tensor

from seer_core.tools.fit_readout import boundaries_of, held_out_scores, scores_elsewhere
from seer_core.tools.scores import BoundaryScore, Rows, Truth, folds_of, score, smallest_margin

Row = dict[str, Any]

SIZES = (8, 16, 32, 64, 128, 256)
DRAWS = 3
HALVES = 3
FOLDS = 4
CAUTIONS = (0.0, 2.0)
LOST_ENDS = (0.1, 0.05, 0.01, 0.005, 0.0)
"""One minus the quantile of the rows' own error that a margin covers; 0 covers them all."""


def study_prompts(
    features: Sequence[Tensor],
    truth: Truth,
    *,
    ridge: float,
    sizes: Sequence[int] = SIZES,
    draws: int = DRAWS,
) -> list[Row]:
    """A row per number of prompts to fit on: the median and the worst of `draws`, each tested on all other rows."""
    rows = []
    for size in (size for size in sizes if size < len(features)):
        found = [
            _score_outside(features, truth, inside, outside, ridge)
            for inside, outside in draws_of(len(features), size, draws)
        ]
        rows.append({"prompts": size, "tested_rows": len(features) - size, "draws": draws, **_summary(found)})
    return rows


def study_margins(features: Sequence[Tensor], truth: Truth, *, ridge: float, halves: int = HALVES) -> list[Row]:
    """A row per caution and quantile: the margin that half of the rows asks for, and what it does to the other half.

    Means over `halves` random halves.
    """
    cells: dict[tuple[float, float], list[tuple[int, BoundaryScore]]] = {}
    for inside, outside in draws_of(len(features), len(features) // 2, halves):
        own, rest = truth.of(inside), truth.of(outside)
        half = [features[row] for row in inside.tolist()]
        known = held_out_scores(half, own, folds_of(len(half), FOLDS), ridge=ridge)
        unseen = scores_elsewhere(features, truth, inside=inside, outside=outside, ridge=ridge)
        for caution, lost_end in product(CAUTIONS, LOST_ENDS):
            margin = smallest_margin(boundaries_of(known, caution), own, lost_end)
            scored = score(boundaries_of(unseen, caution), rest, margin)
            cells.setdefault((caution, lost_end), []).append((margin, scored))
    return [_margin_row(caution, lost_end, found) for (caution, lost_end), found in cells.items()]


def draws_of(rows: int, size: int, draws: int) -> Iterator[tuple[Rows, Rows]]:
    """`draws` times `size` random rows, and all the others; the same every time."""
    for draw in range(draws):
        order = np.random.default_rng((draw, size)).permutation(rows)
        yield np.sort(order[:size]), np.sort(order[size:])


def _score_outside(
    features: Sequence[Tensor], truth: Truth, inside: Rows, outside: Rows, ridge: float
) -> BoundaryScore:
    scores = scores_elsewhere(features, truth, inside=inside, outside=outside, ridge=ridge)
    return score(boundaries_of(scores), truth.of(outside))


def _summary(found: Sequence[BoundaryScore]) -> Row:
    costs = [one.cost_tokens for one in found]
    cuts = [one.over_truncation for one in found]
    return {
        "cost_tokens": float(np.median(costs)),
        "cost_tokens_worst": max(costs),
        "over_truncation": float(np.median(cuts)),
        "over_truncation_worst": max(cuts),
        "detection_rate": float(np.median([one.detection_rate for one in found])),
    }


def _margin_row(caution: float, lost_end: float, found: Sequence[tuple[int, BoundaryScore]]) -> Row:
    fields = [asdict(scored) for _, scored in found]
    means = {
        name: float(np.mean([one[name] for one in fields])) for name in ("over_truncation", "lost_end", "kept_tokens")
    }
    margins = [margin for margin, _ in found]
    return {"caution": caution, "quantile": 1.0 - lost_end, "margin_tokens": float(np.mean(margins)), **means}
