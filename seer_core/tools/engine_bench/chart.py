"""The bench's rows as a picture: padding waste and rows per second of each mode. Needs matplotlib."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from seer_core.tools.picture import picture

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PANELS = {"padding_waste": "padding waste", "rows_per_s": "rows/s"}


def plot_bench(rows: Sequence[Mapping[str, Any]], path: Path) -> None:
    """Draw `rows` to `path`: a group of bars per mix and batch size, a bar per mode.

    Raises `ConfigError` where matplotlib is not installed.
    """
    cells = list(dict.fromkeys((row["mix"], row["batch"]) for row in rows))
    with picture(path, size_in=(2 + 1.1 * len(cells), 5.2)) as figure:
        panels: list[Axes] = list(figure.subplots(len(PANELS), 1, sharex=True))
        for axes, (name, label) in zip(panels, PANELS.items(), strict=True):
            _bars(axes, rows, name, cells)
            axes.set_ylabel(label)
        panels[1].set_yscale("log")
        panels[1].set_xticks(range(len(cells)), [f"{mix}\nx {batch}" for mix, batch in cells], fontsize=7)
        panels[0].legend(fontsize=7, ncols=3)


def _bars(axes: Axes, rows: Sequence[Mapping[str, Any]], name: str, cells: Sequence[tuple[str, int]]) -> None:
    modes = list(dict.fromkeys(row["mode"] for row in rows))
    width = 0.8 / len(modes)
    for index, mode in enumerate(modes):
        own = [row for row in rows if row["mode"] == mode]
        at = [cells.index((row["mix"], row["batch"])) - 0.4 + (index + 0.5) * width for row in own]
        axes.bar(at, [row[name] for row in own], width, label=mode)
