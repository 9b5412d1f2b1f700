"""The benchmarks as commands, on the embedded model and as few rows as there can be."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from seer_core.cli import main, parser

PICTURE = Path(__file__).parents[3] / "examples/shapes.png"
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


def questions(folder: Path, *rows: dict[str, Any]) -> list[str]:
    file = folder / "questions.jsonl"
    file.write_text("".join(json.dumps({"image": str(PICTURE), **row}) + "\n" for row in rows))
    return ["--data", str(file)]


def test_a_few_questions_of_ones_own_are_read_and_scored_as_evaluate_does(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    asked = "How many shapes are there?"
    data = questions(tmp_path, {"query": asked, "answers": ["five", "5"]}, {"query": asked, "answers": "5.1"})
    read = [*data, "--fields", "question=query", "--cells", str(tmp_path / "cells")]
    few = ["bench", "end-to-end", "--canvases", "16", "--batches", "2", "--methods", "seer", "--rounds", "0", "--json"]
    assert main([*few, *read, "--metric", "relaxed"]) == 0
    result = last_line(capsys)
    assert [(row["method"], row["quality_rows"], row["score"]) for row in result["rows"]] == [
        ("fixed", 2, 1.0),
        ("seer", 2, 1.0),
    ]
    assert (result["settings"]["questions"], result["missing_cells"], result["lengths"]["2"]["rows"]) == (2, 0, 2)
    made = sorted((tmp_path / "cells").iterdir())
    same = ["bench", "detectors", "--canvases", "16", "--json"]
    assert main([*same, *read, "--metric", "relaxed"]) == 0
    assert {row["rows"] for row in last_line(capsys)["rows"]} == {2}
    assert sorted((tmp_path / "cells").iterdir()) == made
    assert main([*few, *read]) == 2
    assert "cells of another run: form is" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["end-to-end", "detectors"])
@pytest.mark.parametrize(
    ("rows", "named"), [([], "holds no questions"), ([{"question": "Why?"}], "'questions.jsonl:1' has no right answer")]
)
def test_data_that_cannot_be_scored_is_named(
    command: str, rows: list[dict[str, Any]], named: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert main(["bench", command, *questions(tmp_path, *rows)]) == 2
    assert named in capsys.readouterr().err


@pytest.mark.parametrize("command", [["evaluate"], ["calibrate"], ["bench", "detectors"], ["bench", "readout"]])
def test_every_command_with_data_reads_it_in_the_same_ways(command: list[str]) -> None:
    words = ["--data", "a.jsonl", "--fields", "answers=label", "--instruction", "Be brief."]
    options = parser().parse_args([*command, *words])
    assert (options.fields, options.metric, options.instruction) == ([("answers", ["label"])], None, "Be brief.")


@pytest.mark.parametrize("command", [["evaluate"], ["bench", "end-to-end"], ["bench", "detectors"]])
def test_commands_that_score_answers_take_a_metric(command: list[str]) -> None:
    assert parser().parse_args([*command, "--metric", "anls"]).metric == "anls"


@pytest.mark.parametrize("command", [["calibrate"], ["bench", "readout"]])
def test_commands_that_label_for_themselves_take_none(command: list[str]) -> None:
    with pytest.raises(SystemExit):
        parser().parse_args([*command, "--metric", "anls"])


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (["end-to-end", "--metric", "exakt"], "did you mean 'exact'"),
        (["readout", "--fields", "questoin=q"], "did you mean 'question'"),
        (["end-to-end", "--methods", "oracel"], "did you mean 'oracle'"),
        (["end-to-end", "--quality-rows", "2"], "speed_rows"),
        (["document", "--end-to-end", "nowhere.json"], "cannot be read"),
    ],
)
def test_what_is_wrong_is_named(words: list[str], named: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", *words]) == 2
    assert named in capsys.readouterr().err
