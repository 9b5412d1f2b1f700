"""How well each detector sees the end against how many layers it runs, on one checkpoint or several, from the reports
that calibrations wrote. Needs matplotlib.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from seer_core.tools.picture import picture

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Report = Mapping[str, Any]
Point = dict[str, Any]

BY_LAYER = ("paper", "calibrated", "readout")
WHOLE = ("smartcrop", "first_end")
COLOURS: Mapping[str, str] = MappingProxyType(
    {
        "paper": "#c0392b",
        "calibrated": "#e8a33d",
        "readout": "#1f6fb4",
        "smartcrop": "#2a8a57",
        "first_end": "#7d4fa0",
    }
)


def points_of(report: Report) -> list[Point]:
    """One per detector and depth: of the tensors tapped in a layer, the one with the smallest cost."""
    points: list[Point] = []
    for detector in BY_LAYER:
        for layer in sorted({tap["layer"] for tap in report["taps"]}):
            taps = [tap for tap in report["taps"] if (tap["detector"], tap["layer"]) == (detector, layer)]
            if taps:
                points.append(_point(detector, layer + 1, min(taps, key=lambda tap: float(tap["cost_tokens"]))))
    return points + [_point(name, report["work"]["layers"], report[name]) for name in WHOLE if name in report]


def plot_layers(reports: Mapping[str, Report], path: Path) -> None:
    """A column per report, named by its key: mean error above, then ends detected, then answers cut too short.

    The error is that of the ends that were detected, so that neither of the upper two means much alone.

    Raises `ConfigError` where matplotlib is not installed.
    """
    with picture(path, size_in=(3.4 * len(reports) + 0.6, 6.8)) as figure:
        panels = figure.subplots(3, len(reports), sharex=True, sharey="row", squeeze=False)
        for column, (name, report) in enumerate(reports.items()):
            points = points_of(report)
            _draw(panels[0][column], points, "mae_tokens")
            _draw(panels[1][column], points, "detection_rate")
            _draw(panels[2][column], points, "over_truncation")
            panels[0][column].set_title(name)
            panels[0][column].set_yscale("symlog", linthresh=0.1)
            panels[2][column].set_xlabel("layers run")
        panels[0][0].set_ylabel("mean error, tokens")
        panels[1][0].set_ylabel("detected, share of ends")
        panels[2][0].set_ylabel("over-truncation, share of rows")
        figure.legend(*panels[0][0].get_legend_handles_labels(), loc="outside lower center", ncols=3)


def _point(detector: str, layers: int, scores: Mapping[str, Any]) -> Point:
    kept = {name: scores[name] for name in ("mae_tokens", "over_truncation", "detection_rate", "cost_tokens")}
    return {"detector": detector, "layers": layers, "tensor": scores.get("tensor"), **kept}


def _draw(axes: Axes, points: Sequence[Point], measure: str) -> None:
    for detector, colour in COLOURS.items():
        own = [point for point in points if point["detector"] == detector]
        marker, label = ("D", f"{detector} (with head)") if detector in WHOLE else ("o-", detector)
        depths, values = [point["layers"] for point in own], [point[measure] for point in own]
        axes.plot(depths, values, marker, color=colour, markersize=4, label=label)
