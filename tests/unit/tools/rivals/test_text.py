from __future__ import annotations

from seer_core.tools.rivals.text import detector_lines, end_to_end_lines, table


def test_what_was_not_measured_is_a_dash_and_shares_are_percent() -> None:
    columns = (("name", "name", "s"), ("share", "share", ".1%"), ("cost", "cost", ".2f"))
    assert table(columns, [{"name": "a", "share": 0.5, "cost": None}]) == [
        "| name | share | cost |",
        "| :-- | --: | --: |",
        "| a | 50.0% | - |",
    ]


def test_quality_has_a_table_a_canvas_and_speed_one_a_batch_as_well() -> None:
    measured = {"quality_rows": 4, "rounds": 2, "score": 1.0, "steps": 3.0}
    rows = [
        {"method": "seer", "canvas": canvas, "batch": batch, **measured} for canvas in (32, 64) for batch in (1, 16)
    ]
    titles = [line for line in end_to_end_lines(rows) if line.startswith("###")]
    assert titles == [
        *("### Quality, canvas 32", "### Quality, canvas 64"),
        *("### Speed, canvas 32, batch 1 (2 rounds)", "### Speed, canvas 32, batch 16 (2 rounds)"),
        *("### Speed, canvas 64, batch 1 (2 rounds)", "### Speed, canvas 64, batch 16 (2 rounds)"),
    ]


def test_detectors_have_a_table_a_canvas() -> None:
    lines = detector_lines([{"detector": "paper", "canvas": 32, "head": False}])
    assert lines[1] == "### Detectors, canvas 32"
    assert "| paper | - | - | no |" in lines[-1]
