"""The house style of pictures: a figure to draw on, saved when it is done. Knows nothing of what is drawn."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from seer_core.errors import ConfigError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

INK = "#1f2933"


@contextmanager
def picture(path: Path, *, size_in: tuple[float, float]) -> Iterator[Figure]:
    """A figure of `size_in` inches, written to `path` at the end; the suffix (.png, .pdf, .svg) is the format.

    Raises `ConfigError` where matplotlib is not installed.
    """
    try:
        from matplotlib import rc_context
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ConfigError("pictures need matplotlib: install seer[plot]") from error
    with rc_context(
        {
            "font.family": "serif",
            "font.size": 9,
            "axes.edgecolor": INK,
            "axes.spines.top": False,
            "axes.spines.right": False,
            "axes.titlesize": 10,
            "axes.titlelocation": "left",
            "legend.frameon": False,
            "legend.fontsize": 8,
        }
    ):
        figure = Figure(figsize=size_in, layout="constrained")
        FigureCanvasAgg(figure)
        yield figure
        figure.savefig(path, dpi=200)
