"""The benchmarks as commands, on the embedded model and as few rows as there can be."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from seer_core.cli import main

TINY = ["--canvases", "16", "--quality-rows", "2"]
WHOLE = ["bench", "end-to-end", "--methods", "seer", "oracle", "--batches", "2", "--speed-rows", "2", "--rounds", "1"]


def last_line(capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    printed: dict[str, Any] = json.loads(capsys.readouterr().out.splitlines()[-1])
    return printed


def test_end_to_end_ends_in_one_json_line_and_goes_on_from_its_cells(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    command = [*WHOLE, *TINY, "--cells", str(tmp_path / "cells"), "--json"]
    assert main(command) == 0
    result = last_line(capsys)
    assert [row["method"] for row in result["rows"]] == ["fixed", "seer", "oracle"]
    assert (result["missing_cells"], result["lengths"]["2"]["rows"]) == (0, 2)
    assert main([*command, "--collect"]) == 0
    assert last_line(capsys)["rows"] == result["rows"]


def test_detectors_share_the_cells_and_the_page_takes_both(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    cells, whole, detectors = tmp_path / "cells", tmp_path / "whole.json", tmp_path / "detectors.json"
    assert main([*WHOLE, *TINY, "--cells", str(cells), "--out", str(whole)]) == 0
    made = sorted(cells.iterdir())
    assert main(["bench", "detectors", *TINY, "--cells", str(cells), "--out", str(detectors)]) == 0
    assert sorted(cells.iterdir()) == made
    page = tmp_path / "page.md"
    page.write_text("<!-- end-to-end -->\n<!-- /end-to-end -->\n<!-- detectors -->\n<!-- /detectors -->\n")
    files = ["--end-to-end", str(whole), "--detectors", str(detectors), "--out", str(page)]
    capsys.readouterr()
    assert main(["bench", "document", *files, "--json"]) == 0
    assert last_line(capsys)["written"][0] == str(page)
    assert "### Quality, canvas 16" in page.read_text()


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (["end-to-end", "--methods", "oracel"], "did you mean 'oracle'"),
        (["end-to-end", "--quality-rows", "2"], "speed_rows"),
        (["document", "--end-to-end", "nowhere.json"], "cannot be read"),
    ],
)
def test_what_is_wrong_is_named(words: list[str], named: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", *words]) == 2
    assert named in capsys.readouterr().err
