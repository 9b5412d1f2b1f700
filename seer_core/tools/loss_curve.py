"""A training run's log as a picture: the loss, and how quiet the penalised layers become."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from seer_core.tools.picture import picture

SMOOTH_STEPS = 25


def plot_loss(log: Path, path: Path) -> None:
    """Draw `log` (JSON lines with `step`, `loss`, `effort`) to `path`; the last line of a step counts."""
    rows = {row["step"]: row for row in map(json.loads, log.read_text().splitlines())}
    steps = np.array(sorted(rows))
    with picture(path, size_in=(6.4, 4.2)) as figure:
        upper, lower = figure.subplots(2, 1, sharex=True)
        for axes, name, label in ((upper, "loss", "loss at holes"), (lower, "effort", "effort, penalised layers")):
            values = np.array([rows[step][name] for step in steps])
            axes.plot(steps, values, linewidth=0.4, alpha=0.5)
            axes.plot(steps, smoothed(values), linewidth=1.4)
            axes.set_ylabel(label)
            axes.set_yscale("log")
        lower.set_xlabel("step")


def smoothed(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Running mean over at most `SMOOTH_STEPS` steps, shorter at the start."""
    sums = np.cumsum(np.concatenate(([0.0], values)))
    last = np.arange(1, len(values) + 1)
    first = np.maximum(last - SMOOTH_STEPS, 0)
    mean: NDArray[np.float64] = (sums[last] - sums[first]) / (last - first)
    return mean
