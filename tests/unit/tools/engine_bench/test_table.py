from __future__ import annotations

from typing import Any

from seer_core.tools.engine_bench.table import table

ROW: dict[str, Any] = {
    "mix": "equal-16",
    "batch": 4,
    "mode": "routed",
    "steps": 4,
    "step_ms": 12.345,
    "rows_per_s": 100.0,
    "ratio_to_naive": 1.5,
    "padding_waste": 0.125,
    "shape_waste": 0.25,
    "path_shares": {"static": 0.75, "eager": 0.25},
    "graph_hits": None,
    "overhead_share": None,
    "engine_share": 0.05,
}


def test_a_row_is_a_line_with_its_units_and_a_dash_for_what_is_unknown() -> None:
    headings, line = table([ROW])
    assert " ".join(line.split()) == "equal-16 4 routed 12.35 100.00 1.50 12.5% 25.0% static 75% eager 25% - - 5.0%"
    assert headings.index("ms a step") == line.index("12.35")


def test_columns_are_as_wide_as_their_widest_cell() -> None:
    lines = table([ROW, {**ROW, "mix": "log-uniform-4-256", "mode": "naive_padding"}])
    assert len({line.index("12.35") for line in lines[1:]}) == 1
