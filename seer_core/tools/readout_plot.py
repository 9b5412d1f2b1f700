"""The findings about the readout as one picture, drawn from their JSON alone. Needs matplotlib."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from seer_core.tools.picture import INK, picture

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Row = Mapping[str, Any]

COLOURS = ("#7d4fa0", "#c0392b", "#e8a33d", "#1f6fb4", "#2a8a57", "#6b7780")
SHOWN = "magnitude"
"""The features of the panels that show one kind alone."""

SOME_TOKENS = 0.1
"""Errors below this lie on a linear stretch of the axis."""


def plot_readout(study: Mapping[str, Any], path: Path) -> None:
    """Features by layer, prompts to fit on, and transfer between canvases at the shallowest layer there is.

    Raises `ConfigError` where matplotlib is not installed.
    """
    with picture(path, size_in=(10.4, 3.5)) as figure:
        left, middle, right = figure.subplots(1, 3)
        _draw_features(left, [row for row in study["features"] if row["tensor"] == study["tensor"]])
        _draw_prompts(middle, [row for row in study["prompts"] if row["features"] == SHOWN])
        layer = min(row["layer"] for row in study["canvases"])
        _draw_transfer(right, [row for row in study["canvases"] if (row["layer"], row["features"]) == (layer, SHOWN)])
        left.set_title(f"features of {study['tensor']}")
        middle.set_title("prompts: median and worst draw")
        right.set_title(f"transfer at layer {layer}: error, tokens")


def _draw_features(axes: Axes, rows: Sequence[Row]) -> None:
    for name, colour in zip(dict.fromkeys(row["features"] for row in rows), COLOURS, strict=False):
        own = [row for row in rows if row["features"] == name]
        depths, errors = [row["layer"] for row in own], [row["cost_tokens"] for row in own]
        axes.plot(depths, errors, marker="o", markersize=3.5, linewidth=1.0, color=colour, label=name)
    axes.set_xticks(sorted({row["layer"] for row in rows}))
    axes.set_xlabel("layer")
    _error_axis(axes)


def _draw_prompts(axes: Axes, rows: Sequence[Row]) -> None:
    for layer, colour in zip(dict.fromkeys(row["layer"] for row in rows), COLOURS, strict=False):
        own = [row for row in rows if row["layer"] == layer]
        sizes = [row["prompts"] for row in own]
        median, worst = ([row[name] for row in own] for name in ("cost_tokens", "cost_tokens_worst"))
        axes.plot(sizes, median, marker="o", markersize=3.5, color=colour, label=f"layer {layer}")
        axes.fill_between(sizes, median, worst, color=colour, alpha=0.15, linewidth=0)
    sizes = sorted({row["prompts"] for row in rows})
    if sizes:
        axes.set_xscale("log", base=2)
        axes.set_xticks(sizes, [str(size) for size in sizes])
        axes.legend()
    axes.set_xlabel("prompts fitted on")
    _error_axis(axes, legend=False)


def _draw_transfer(axes: Axes, rows: Sequence[Row]) -> None:
    tested = list(dict.fromkeys(row["tested_on"] for row in rows))
    fitted = list(dict.fromkeys(row["fitted_on"] for row in rows))
    errors = {(row["fitted_on"], row["tested_on"]): float(row["cost_tokens"]) for row in rows}
    values = np.array([[errors.get((one, other), np.nan) for other in tested] for one in fitted])
    axes.imshow(np.log1p(values), cmap="Blues", aspect="auto", vmin=0.0)
    most = float(np.nanmax(np.log1p(values)))
    for (row, column), value in np.ndenumerate(values):
        ink = "white" if np.log1p(value) > 0.6 * most else INK
        axes.text(column, row, f"{value:.2f}", ha="center", va="center", fontsize=7, color=ink)
    axes.set_xticks(range(len(tested)), tested)
    axes.set_yticks(range(len(fitted)), fitted)
    axes.set_xlabel("tested on canvas")
    axes.set_ylabel("fitted on canvas")


def _error_axis(axes: Axes, *, legend: bool = True) -> None:
    axes.set_yscale("symlog", linthresh=SOME_TOKENS)
    axes.set_ylim(bottom=0.0)
    axes.set_ylabel("error, tokens")
    axes.grid(color=INK, alpha=0.12, linewidth=0.5)
    if legend:
        axes.legend()
