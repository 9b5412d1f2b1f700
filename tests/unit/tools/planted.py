"""Magnitudes with a boundary planted in them: what step 0 of a model with a Semantic Jump looks like."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from seer_core.tools.scores import Truth

UNITS = 64


def planted_truth(rows: int = 40, seed: int = 0) -> Truth:
    """Canvases of 16 to 32 positions; every fifth is cut, without an end."""
    rng = np.random.default_rng(seed)
    canvas = rng.integers(16, 33, rows)
    end = rng.integers(2, 12, rows)
    end[::5] = canvas[::5]
    return Truth(canvas=canvas, end=end)


def planted_magnitudes(truth: Truth, seed: int = 0) -> list[Tensor]:
    """Half of the units fall to a tenth behind the end; the other half is noise alone."""
    random = torch.Generator().manual_seed(seed)
    rows = []
    for canvas, end in zip(truth.canvas.tolist(), truth.end.tolist(), strict=True):
        values = torch.rand(canvas, UNITS, generator=random) + 0.1
        values[end:, : UNITS // 2] *= 0.1
        rows.append(values)
    return rows


def noise(truth: Truth, seed: int = 1) -> list[Tensor]:
    """Magnitudes that say nothing of the end."""
    random = torch.Generator().manual_seed(seed)
    return [torch.rand(canvas, UNITS, generator=random) + 0.1 for canvas in truth.canvas.tolist()]
