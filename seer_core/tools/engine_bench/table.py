"""The bench's rows for people: one table a terminal shows whole. Knows not how they were measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

COLUMNS = {
    "mix": "mix",
    "batch": "batch",
    "mode": "mode",
    "step_ms": "ms a step",
    "rows_per_s": "rows/s",
    "ratio_to_naive": "to naive",
    "padding_waste": "waste",
    "shape_waste": "in shapes",
    "path_shares": "paths",
    "graph_hits": "hits",
    "overhead_share": "overhead",
    "engine_share": "engine",
}
SHARES = ("padding_waste", "shape_waste", "overhead_share", "engine_share")


def table(rows: Sequence[Mapping[str, object]]) -> list[str]:
    """A line of headings, then a line per row; what was not measured is a dash."""
    cells = [list(COLUMNS.values()), *([_shown(name, row[name]) for name in COLUMNS] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    return ["  ".join(map(str.ljust, line, widths)).rstrip() for line in cells]


def _shown(name: str, value: object) -> str:
    if value is None or value == {}:
        return "-"
    if isinstance(value, Mapping):
        return " ".join(f"{path} {share:.0%}" for path, share in value.items())
    if isinstance(value, float):
        return f"{value:.1%}" if name in SHARES else f"{value:.2f}"
    return str(value)
