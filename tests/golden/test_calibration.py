"""`seer calibrate` on checkpoints of random weights: it writes what it finds, or says that there is nothing to find."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from seer_core.cli import main

FEW = ("--count", "8", "--canvases", "16", "32", "--layers", "1", "2")


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, dict[str, Any]]:
    status = main([*arguments, "--json"])
    return status, json.loads(capsys.readouterr().out.splitlines()[-1])


def test_where_no_answer_ends_it_says_so_and_writes_nothing(
    golden_checkpoint: Callable[[str], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    folder = golden_checkpoint("dimple")
    status, fields = run(capsys, "calibrate", "--model", str(folder), *FEW)
    assert status == 2
    assert "no untruncated run met an end token" in fields["error"]["message"]
    assert not (folder / "profile.json").exists()


def test_a_calibrated_checkpoint_says_so_and_keeps_its_profile(
    checkpoint_of: Callable[[dict[str, Any]], Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ending = checkpoint_of({"family": "dimple", "seed": 0, "boost": {"151645": 2.2}})
    for path in ending.iterdir():
        (tmp_path / path.name).symlink_to(path)
    model = ("--model", str(tmp_path))
    status, fields = run(capsys, "calibrate", *model, *FEW)
    assert status == 0
    assert fields["rows_with_end"] > 0
    assert "Recommended: " in fields["verdict"]
    assert Path(fields["profile"]) == tmp_path / "profile.json"
    assert run(capsys, "inspect", str(tmp_path))[1]["calibrated"] is True
    assert run(capsys, "probe", *model, "--prompt", "What is it?", "--max-tokens", "16")[1]["calibrated"] is True
    status, fields = run(capsys, "calibrate", *model, *FEW)
    assert (status, fields["error"]["field"]) == (2, "out")
