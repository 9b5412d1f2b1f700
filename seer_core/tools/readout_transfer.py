"""Does a readout that was fitted on some rows serve others? The rows are parted by canvas, or by what they ask."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from seer_core.tools.fit_readout import boundaries_of, scores_elsewhere
from seer_core.tools.scores import NO_BOUNDARY, Rows, Truth, folds_of, score

Row = dict[str, Any]
Mask = NDArray[np.bool_]

ALL = "all"
OTHERS = "others"
FOLDS = 2


def study_transfer(
    features: Sequence[Tensor], truth: Truth, groups: Sequence[str], *, ridge: float, seed: int = 0
) -> list[Row]:
    """A row per pair of what was fitted on and the group that was tested.

    `groups` [R] names each row's. Fitted on is each group, all of them, and all but the tested one, from half of their
    rows always; tested are the rows of the other half, then the halves swap places.
    """
    named = np.array(groups)
    names = _in_order(groups)
    folds = folds_of(len(groups), FOLDS, seed)
    rows = []
    for fitted_on, source, tested in _pairs(named, names):
        found = np.full(len(groups), NO_BOUNDARY)
        for fold in range(FOLDS):
            inside, outside = source & (folds != fold), tested & (folds == fold)
            if not inside.any():  # a group of few rows may lie in one half
                break
            found[outside] = _boundaries(features, truth, inside, outside, ridge)
        else:
            for name in _in_order(named[tested].tolist()):
                rows.append(_row(fitted_on, name, found, truth, np.flatnonzero(named == name)))
    return rows


def _pairs(named: NDArray[np.str_], names: Sequence[str]) -> Iterator[tuple[str, Mask, Mask]]:
    """What is fitted on by name and by rows, and all rows that the same weights are tested on."""
    everyone: Mask = np.ones(len(named), np.bool_)
    yield ALL, everyone, everyone
    for name in names:
        yield name, named == name, everyone
    for name in names if len(names) > 1 else ():
        yield OTHERS, named != name, named == name


def _boundaries(features: Sequence[Tensor], truth: Truth, inside: Mask, outside: Mask, ridge: float) -> Rows:
    rows, others = np.flatnonzero(inside), np.flatnonzero(outside)
    return boundaries_of(scores_elsewhere(features, truth, inside=rows, outside=others, ridge=ridge))


def _row(fitted_on: str, tested_on: str, found: Rows, truth: Truth, rows: Rows) -> Row:
    scored = asdict(score(found[rows], truth.of(rows)))
    return {"fitted_on": fitted_on, "tested_on": tested_on, "tested_rows": len(rows), **scored}


def _in_order(groups: Sequence[str]) -> list[str]:
    """Each name once: numbers by size, then words by letters."""
    return sorted(set(groups), key=lambda name: (not name.isdigit(), len(name) if name.isdigit() else 0, name))
