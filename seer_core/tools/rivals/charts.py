"""Pictures of the benchmarks, drawn from their rows alone."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from seer_core.tools.picture import INK, picture

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Row = dict[str, Any]

COLOURS = ("#1f6fb4", "#c0392b", "#e8a33d", "#2a8a57", "#7d4fa0", "#6b7780", "#17a2b8", "#d65db1", "#8c6d31", "#222222")
SHOWN = (
    *("seer", "seer_threshold", "seer_fastdllm_dual", "fastdllm_dual", "fastdllm_prefix", "daedal", "early_stop"),
    *("smartcrop", "oracle", "fixed"),
)


def plot_speed(rows: Sequence[Row], path: Path) -> None:
    """Times the fixed canvas's valid tokens a second, by canvas; a panel a batch."""
    timed = [row for row in rows if row.get("ratio_to_baseline") is not None]
    batches = sorted({row["batch"] for row in timed})
    with picture(path, size_in=(3.4 * max(1, len(batches)) + 1.2, 3.8)) as figure:
        panels = figure.subplots(1, max(1, len(batches)), sharey=True, squeeze=False)[0]
        for axes, batch in zip(panels, batches, strict=False):
            _draw_speed(axes, [row for row in timed if row["batch"] == batch])
            axes.set_title(f"batch {batch}")
        panels[0].set_ylabel("valid tokens/s, times the fixed canvas")
        handles, labels = panels[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside right center")


def plot_trade(rows: Sequence[Row], path: Path) -> None:
    """Every method's speed, with its agreement, at the longest canvas and largest batch that were timed."""
    timed = [row for row in rows if row.get("ratio_to_baseline") is not None and row.get("exact_agreement") is not None]
    canvas = max(row["canvas"] for row in timed)
    batch = max(row["batch"] for row in timed if row["canvas"] == canvas)
    own = [row for row in timed if (row["canvas"], row["batch"]) == (canvas, batch)]
    own.sort(key=lambda row: float(row["ratio_to_baseline"]))
    with picture(path, size_in=(6.4, 0.9 + 0.24 * len(own))) as figure:
        axes: Axes = figure.subplots()
        ratios = [row["ratio_to_baseline"] for row in own]
        colours = [COLOURS[0] if row["method"].startswith("seer") else COLOURS[5] for row in own]
        bars = axes.barh([row["method"] for row in own], ratios, color=colours, height=0.7)
        texts = [f" x {row['ratio_to_baseline']:.1f}, {row['exact_agreement']:.1%} agree" for row in own]
        axes.bar_label(bars, texts, fontsize=7)
        axes.set_xscale("log")
        axes.set_xlim(0.8, 6 * max(ratios))
        axes.set_xlabel("valid tokens/s, times the fixed canvas")
        axes.set_title(f"canvas {canvas}, batch {batch}")


def plot_detectors(rows: Sequence[Row], path: Path) -> None:
    """Each detector's mean error and its probe's time, by canvas."""
    names = list(dict.fromkeys(row["detector"] for row in rows))
    with picture(path, size_in=(7.2, 3.4)) as figure:
        left, right = figure.subplots(1, 2)
        for name, colour in zip(names, COLOURS, strict=False):
            own = sorted((row for row in rows if row["detector"] == name), key=lambda row: int(row["canvas"]))
            canvases = [row["canvas"] for row in own]
            label = f"{name} ({own[0]['layers']} layers{' + head' if own[0]['head'] else ''})"
            errors = [row["boundary_mae_tokens"] for row in own]
            seen = [(canvas, error) for canvas, error in zip(canvases, errors, strict=True) if error is not None]
            left.plot(*zip(*seen, strict=True), color=colour, marker="o", markersize=3, linewidth=1.1, label=label)
            right.plot(canvases, [row["probe_ms"] for row in own], color=colour, marker="o", markersize=3)
        left.set_yscale("symlog", linthresh=0.1)
        for axes, text in ((left, "mean |boundary - end|, tokens"), (right, "probe, ms a row (batch of 16)")):
            axes.set_xscale("log", base=2)
            axes.set_xticks(
                sorted({row["canvas"] for row in rows}), sorted({str(row["canvas"]) for row in rows}, key=int)
            )
            axes.set_xlabel("canvas")
            axes.set_ylabel(text)
        figure.legend(*left.get_legend_handles_labels(), loc="outside lower center", ncols=3)


def _draw_speed(axes: Axes, rows: Sequence[Row]) -> None:
    names = [name for name in SHOWN if any(row["method"] == name for row in rows)]
    for name, colour in zip(names, COLOURS, strict=False):
        own = sorted((row for row in rows if row["method"] == name), key=lambda row: int(row["canvas"]))
        ratios = [row["ratio_to_baseline"] for row in own]
        style = "-" if name.startswith("seer") else "--"
        canvases = [row["canvas"] for row in own]
        axes.plot(canvases, ratios, style, color=colour, marker="o", markersize=3, linewidth=1.1, label=name)
    canvases = sorted({row["canvas"] for row in rows})
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.set_xticks(canvases, [str(canvas) for canvas in canvases])
    axes.set_xlabel("canvas")
    axes.grid(color=INK, alpha=0.12, linewidth=0.5)
