"""The step-0 curves of one canvas as a picture: a panel for each curve that was seen, and what is kept.

Legend: N canvas positions. Needs matplotlib, which is imported only when a picture is drawn.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from seer_core.probe.ended import ended_by
from seer_core.probe.probe import ProbedCurve
from seer_core.probe.statistic import Curve as Values
from seer_core.probe.statistic import Evidence
from seer_core.tools.picture import INK, picture
from seer_core.types import Forecast

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ANSWER, FILL, CUT = "#1f6fb4", "#e8a33d", "#c0392b"


def plot_curve(curve: ProbedCurve, path: Path, *, title: str = "") -> None:
    """Draw `curve` to `path`; the suffix (.png, .pdf, .svg) is the format.

    Raises `ConfigError` where matplotlib is not installed.
    """
    panels = panels_of(curve.evidence)
    with picture(path, size_in=(6.4, 1.2 + 1.7 * max(1, len(panels)))) as figure:
        _draw(figure, curve, panels, title)


def panels_of(evidence: Evidence) -> list[tuple[str, Values]]:
    """Label and values [N] of every curve that was seen; a blank one where none was."""
    ended = None if evidence.end_probability is None else ended_by(evidence.end_probability)
    seen = [
        ("sparsity $s_i$", evidence.sparsity),
        ("$s_i$ - baseline", evidence.centred),
        ("readout $z_i$", evidence.scores),
        ("$P(end)$", evidence.end_probability),
        ("$P(ended)$", ended),
    ]
    panels = [(label, values) for label, values in seen if values is not None]
    return panels if panels else [("nothing read", np.zeros(evidence.canvas_tokens))]


def _draw(figure: Figure, curve: ProbedCurve, panels: Sequence[tuple[str, Values]], title: str) -> None:
    axes: list[Axes] = list(figure.subplots(len(panels), 1, sharex=True, squeeze=False)[:, 0])
    forecast = curve.forecast
    axes[0].set_title(title if title else _summary(forecast))
    for panel, (label, values) in zip(axes, panels, strict=True):
        _draw_values(panel, values, forecast)
        if float(values.min()) < 0.0 < float(values.max()):
            panel.axhline(0.0, color=INK, linewidth=0.6, alpha=0.6)
        panel.set_ylabel(label)
        _draw_cut(panel, forecast)
        panel.set_xlim(-0.8, forecast.canvas_tokens - 0.2)
        panel.margins(y=0.12)
    axes[-1].set_xlabel("canvas position $i$ (all masked, step 0)")
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=len(labels))


def _draw_values(panel: Axes, values: Values, forecast: Forecast) -> None:
    positions = np.arange(len(values))
    boundary = len(values) if forecast.boundary is None else forecast.boundary
    panel.plot(positions, values, color=INK, linewidth=0.8, alpha=0.5, zorder=2)
    size = 14 if len(values) <= 96 else 6
    before, behind = positions < boundary, positions >= boundary
    name = "no end seen" if forecast.boundary is None else "answer"
    panel.scatter(positions[before], values[before], s=size, color=ANSWER, zorder=3, label=name)
    if behind.any():
        panel.scatter(positions[behind], values[behind], s=size, color=FILL, zorder=3, label="plateau")


def _draw_cut(panel: Axes, forecast: Forecast) -> None:
    if forecast.boundary is None:
        return
    panel.axvspan(forecast.boundary - 0.5, forecast.canvas_tokens, color=FILL, alpha=0.13, linewidth=0, zorder=0)
    panel.axvline(
        forecast.boundary - 0.5, color=INK, linestyle="--", linewidth=1.1, label=f"boundary $i^*$ = {forecast.boundary}"
    )
    if forecast.length_tokens < forecast.canvas_tokens:
        panel.axvline(
            forecast.length_tokens - 0.5, color=CUT, linewidth=1.1, label=f"kept $L^*$ = {forecast.length_tokens}"
        )


def _summary(forecast: Forecast) -> str:
    kept = f"{forecast.length_tokens} of {forecast.canvas_tokens} positions kept"
    return f"{kept} (detector: {forecast.detector})"
