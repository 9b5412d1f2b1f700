"""How good predicted boundaries are, against the ends of untruncated runs. Arrays in, numbers out.

Legend: R rows. A boundary of `NO_BOUNDARY` means that nothing was detected; the whole canvas is kept then.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Rows = NDArray[np.int64]

NO_BOUNDARY = -1


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Truth:
    """`canvas` N [R], and `end` [R]: slot of the first end token, or N where the canvas holds none."""

    canvas: Rows
    end: Rows

    def of(self, rows: Rows) -> Truth:
        return Truth(canvas=self.canvas[rows], end=self.end[rows])


@dataclass(frozen=True, slots=True, kw_only=True)
class BoundaryScore:
    """Ratios are over all rows, `detection_rate` over those that have an end.

    `mae_tokens` is the mean |boundary - end| over detections, None where there are none. `cost_tokens` is the same over
    all rows, a row without detection counting as cut at the end of its canvas. `over_truncation` is the share of rows
    with fewer tokens kept than the answer has, `lost_end` that of rows whose end token's slot was cut as well.
    """

    mae_tokens: float | None
    cost_tokens: float
    detection_rate: float
    over_truncation: float
    lost_end: float
    kept_tokens: float


def kept(boundaries: Rows, canvas: Rows, margin_tokens: int) -> Rows:
    """L* for many rows [R] at once, as `probe.boundary.kept_tokens` defines it for one."""
    return np.where(boundaries == NO_BOUNDARY, canvas, np.minimum(canvas, boundaries + 1 + margin_tokens))


def score(boundaries: Rows, truth: Truth, margin_tokens: int = 0) -> BoundaryScore:
    """Score boundaries [R] under a margin."""
    found = boundaries != NO_BOUNDARY
    errors = np.abs(np.where(found, boundaries, truth.canvas) - truth.end)
    ending = truth.end < truth.canvas
    lengths = kept(boundaries, truth.canvas, margin_tokens)
    return BoundaryScore(
        mae_tokens=float(errors[found].mean()) if found.any() else None,
        cost_tokens=float(errors.mean()),
        detection_rate=float(found[ending].mean()) if ending.any() else 0.0,
        over_truncation=float((lengths < truth.end).mean()),
        lost_end=float((lengths < np.minimum(truth.end + 1, truth.canvas)).mean()),
        kept_tokens=float(lengths.mean()),
    )


def smallest_margin(boundaries: Rows, truth: Truth, lost_end: float) -> int:
    """The fewest margin tokens with which at most a share `lost_end` of the rows loses its end token's slot."""
    needed = np.minimum(truth.end + 1, truth.canvas) - kept(boundaries, truth.canvas, 0)
    allowed = math.floor(lost_end * len(needed))
    return max(0, int(np.sort(needed)[::-1][min(allowed, len(needed) - 1)]))


def work(boundaries: Rows, truth: Truth, margin_tokens: int = 0) -> float:
    """Mean positions computed by the denoising, one token a step: L* steps of L* positions each."""
    return float(np.square(kept(boundaries, truth.canvas, margin_tokens)).mean())


def best_of(found: Rows, truth: Truth, *, lost_end: float, most_over_truncation: float) -> int:
    """Which of C settings is best by its boundaries, `found` [C, R]: the least work, each under its smallest margin.

    Those that over-truncate more than `most_over_truncation` of the rows without a margin come last: a margin mends
    what is a token or two early, not a rule that fires inside answers.
    """
    lengths = kept(found, truth.canvas, 0)  # [C, R]
    unsafe = (lengths < truth.end).mean(-1) > most_over_truncation
    needed = np.sort(np.minimum(truth.end + 1, truth.canvas) - lengths, axis=-1)[:, ::-1]
    margins = np.maximum(0, needed[:, min(math.floor(lost_end * len(truth.end)), len(truth.end) - 1)])
    padded = np.where(found == NO_BOUNDARY, truth.canvas, np.minimum(truth.canvas, lengths + margins[:, None]))
    misses = np.abs(np.where(found == NO_BOUNDARY, truth.canvas, found) - truth.end).mean(-1)
    return int(np.lexsort((misses, np.square(padded).mean(-1), unsafe))[0])


def held_out(found: Rows, truth: Truth, folds: Rows, *, lost_end: float, most_over_truncation: float) -> Rows:
    """Boundaries [R], each row's by the setting that is `best_of` the rows of other `folds` [R]."""
    out = np.full(len(truth.end), NO_BOUNDARY)
    for fold in np.unique(folds):
        inside, outside = folds != fold, folds == fold
        rest = Truth(canvas=truth.canvas[inside], end=truth.end[inside])
        best = best_of(found[:, inside], rest, lost_end=lost_end, most_over_truncation=most_over_truncation)
        out[outside] = found[best, outside]
    return out


def folds_of(rows: int, folds: int, seed: int = 0) -> Rows:
    """A fold for each of `rows`, the same every time."""
    return np.random.default_rng(seed).permutation(rows) % min(folds, rows)


def wilson_upper(hits: int, rows: int, z: float = 1.96) -> float:
    """Upper end of the Wilson interval of a rate: what `hits` of `rows` still leaves possible."""
    rate = hits / rows
    centre = rate + z * z / (2 * rows)
    spread = z * math.sqrt(rate * (1 - rate) / rows + z * z / (4 * rows * rows))
    return (centre + spread) / (1 + z * z / rows)
