"""What step 0 shows of one canvas, and the jump and noise of the paper at every position.

Legend: N canvas positions, w window. Pure numbers: knows no model and no threshold.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

Curve = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Evidence:
    """What was looked at; None where the probe did not run that far, or the profile has no numbers for it.

    `sparsity` s_i [N] is that of the `paper` rule's tensor with `units` units, `centred` [N] that of the calibrated
    rule's, its baseline taken off; `scores` z_i [N] are the readout's. `end_probability` [N] is the probability of an
    end token at each position, `end_likeliest` [N] whether the likeliest token is one.
    """

    canvas_tokens: int
    sparsity: Curve | None = None
    units: int = 0
    centred: Curve | None = None
    scores: Curve | None = None
    end_probability: Curve | None = None
    end_likeliest: NDArray[np.bool_] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """Signal and noise of the curve at one position; all three finite."""

    jump: float
    noise: float
    snr: float


FLAT = Step(jump=0.0, noise=0.0, snr=0.0)
"""Where no window fits, or nothing was detected."""


def jumps(sparsity: Curve, window: int) -> tuple[Curve, Curve]:
    """Jump and noise [..., N - w] of a curve [..., N], for the positions i = 1 .. N - w.

    `jump = min(W_i) - s_{i-1}`, `noise = max(W_i) - min(W_i)`, `W_i = {s_i .. s_{i+w-1}}`. Empty where N <= w.
    """
    count = sparsity.shape[-1] - window
    if count <= 0:
        empty = np.zeros((*sparsity.shape[:-1], 0))
        return empty, empty
    windows = sliding_window_view(sparsity[..., 1:], window, axis=-1)  # [..., N - w, w]
    low, high = windows.min(-1), windows.max(-1)
    return low - sparsity[..., :count], high - low


def step_at(evidence: Evidence, position: int | None, window: int) -> Step:
    """The step at `position`, or `FLAT` where no window with a left neighbour fits there, or no sparsity was seen."""
    curve = evidence.sparsity
    if curve is None or position is None or not 1 <= position <= evidence.canvas_tokens - window:
        return FLAT
    jump, noise = (float(values[0]) for values in jumps(curve[position - 1 : position + window], window))
    level = float(curve[position : position + window].mean())
    return Step(jump=jump, noise=noise, snr=jump / max(noise, sampling_noise(level, evidence.units)))


def sampling_noise(level: float, units: int) -> float:
    """Standard deviation of a sparsity of `level` measured on `units` independent units; above zero at any level."""
    half_unit = 0.5 / units
    inside = min(max(level, half_unit), 1.0 - half_unit)
    return math.sqrt(inside * (1.0 - inside) / units)
