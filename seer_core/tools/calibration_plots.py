"""Pictures of a calibration's report, drawn from its JSON alone: heat map, price of safety, the two dials."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from seer_core.tools.picture import INK, picture

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Report = dict[str, Any]

COLOURS = ("#1f6fb4", "#c0392b", "#e8a33d", "#2a8a57", "#7d4fa0", "#6b7780")


def plot_heat(report: Report, path: Path) -> None:
    """Layers x positions around the first end token: where in the model the end shows."""
    heat = report["heat"]
    values = np.array([[np.nan if value is None else value for value in row] for row in heat["sparsity"]])
    offsets = heat["offsets"]
    with picture(path, size_in=(6.4, 1.4 + 0.28 * len(values))) as figure:
        axes: Axes = figure.subplots()
        edges = (offsets[0] - 0.5, offsets[-1] + 0.5, len(values) - 0.5, -0.5)
        shown = axes.imshow(values, aspect="auto", extent=edges, cmap="viridis", interpolation="nearest")
        axes.axvline(-0.5, color="white", linestyle="--", linewidth=1.0)
        axes.set_xlabel("position relative to the first end token (all masked, step 0)")
        axes.set_ylabel("layer")
        axes.set_yticks(range(0, len(values), max(1, len(values) // 8)))
        axes.set_title(f"mean sparsity of {heat['tensor']}, eps {heat['eps']:g}")
        figure.colorbar(shown, ax=axes)


def plot_safety(report: Report, detectors: Sequence[str], path: Path) -> None:
    """Over-truncation against positions saved, a curve a detector over its margins; the chosen margin is marked."""
    with picture(path, size_in=(6.4, 3.8)) as figure:
        axes: Axes = figure.subplots()
        for name, colour in zip(detectors, COLOURS, strict=False):
            points = report[name]["trade"]
            saved, cut = ([point[key] for point in points] for key in ("positions_saved", "over_truncation"))
            axes.plot(saved, cut, color=colour, marker="o", markersize=2.5, linewidth=1.0, label=name)
            kept = report[name]["with_margin"]
            whole = 1.0 - kept["kept_tokens"] / report["work"]["canvas_tokens"]
            axes.scatter([whole], [kept["over_truncation"]], s=42, facecolors="none", edgecolors=colour, zorder=3)
        axes.set_xlabel("positions saved, share of all canvases")
        axes.set_ylabel("over-truncation, share of rows")
        axes.set_ylim(bottom=-0.02)
        axes.set_title("each margin's price (circles: the chosen ones)")
        axes.grid(color=INK, alpha=0.12, linewidth=0.5)
        axes.legend()


def plot_dials(report: Report, path: Path) -> None:
    """tau x gamma of the paper's rule at its best tap: what each pair cuts short, and what it saves."""
    dials = report["dials"]
    with picture(path, size_in=(6.8, 3.6)) as figure:
        left, right = figure.subplots(1, 2, sharey=True)
        for axes, name, title, colours in (
            (left, "over_truncation", "over-truncation, % of rows", "Reds"),
            (right, "positions_saved", "positions saved, %", "Blues"),
        ):
            _draw_dial(axes, np.array(dials[name]), dials, colours)
            axes.set_title(title)
        left.set_ylabel(r"$\tau_{jump}$")


def _draw_dial(axes: Axes, values: np.ndarray[Any, np.dtype[np.float64]], dials: Report, colours: str) -> None:
    most = max(float(values.max()), 1e-6)
    axes.imshow(values, aspect="auto", cmap=colours, vmin=min(0.0, float(values.min())), vmax=most)
    axes.set_xticks(range(len(dials["gammas"])), [f"{gamma:g}" for gamma in dials["gammas"]])
    axes.set_yticks(range(len(dials["taus"])), [f"{tau:g}" for tau in dials["taus"]])
    axes.set_xlabel(r"$\gamma$")
    for (row, column), value in np.ndenumerate(values):
        ink = "white" if value > 0.6 * most else INK
        axes.text(column, row, f"{100 * value:.0f}", ha="center", va="center", fontsize=6, color=ink)
    tau, gamma = dials["chosen"]
    place = (dials["gammas"].index(gamma), dials["taus"].index(tau))
    axes.scatter([place[0]], [place[1]], marker="s", s=150, facecolors="none", edgecolors=INK, linewidth=1.2)
