"""Ends of untruncated runs that are kept on disk."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from seer_core.errors import ConfigError
from seer_core.tools.label_file import label_once
from seer_core.types import GenerationRequest, Message, Sampling
from tests.unit.tools.stand_ins import ScriptedStages


def requests(*texts: str, canvas: int = 16) -> list[GenerationRequest]:
    return [
        GenerationRequest(id=text, messages=(Message(role="user", text=text),), sampling=Sampling(max_tokens=canvas))
        for text in texts
    ]


def test_runs_are_made_once_and_their_ends_read_from_then_on(tmp_path: Path) -> None:
    path, stages = tmp_path / "new" / "ends.json", ScriptedStages()
    asked = requests("5 5", "20 -")
    first = label_once(stages, asked, path, batch_rows=2, progress=False)
    runs = len(stages.runs)
    again = label_once(stages, asked, path, batch_rows=2, progress=False)
    assert (runs, len(stages.runs)) == (1, 1)
    assert first.truth.end.tolist() == again.truth.end.tolist() == [5, 16]
    assert again.truth.canvas.tolist() == [16, 16]
    assert len(again.prompts) == 2
    assert list(path.parent.iterdir()) == [path]


def test_a_run_that_is_killed_while_writing_leaves_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(path: Path, text: str) -> int:
        path.touch()
        raise OSError("no space left")

    path = tmp_path / "ends.json"
    monkeypatch.setattr(Path, "write_text", full)
    with pytest.raises(OSError, match="no space left"):
        label_once(ScriptedStages(), requests("5 5"), path, batch_rows=2, progress=False)
    assert not path.exists()


@pytest.mark.parametrize("other", [requests("5 5", canvas=32), requests("6 6"), requests("5 5", "7 7")])
def test_labels_of_other_rows_are_refused(tmp_path: Path, other: list[GenerationRequest]) -> None:
    path = tmp_path / "ends.json"
    label_once(ScriptedStages(), requests("5 5"), path, batch_rows=2, progress=False)
    with pytest.raises(ConfigError, match="other rows"):
        label_once(ScriptedStages(), other, path, batch_rows=2, progress=False)


def other_dtype(stages: ScriptedStages) -> None:
    stages.model.decoder.double()


def other_loop(stages: ScriptedStages) -> None:
    stages.loop = replace(stages.loop, banned_ids=frozenset((7,)))


@pytest.mark.parametrize("change", [other_dtype, other_loop])
def test_labels_of_another_dtype_or_loop_are_refused(tmp_path: Path, change: Callable[[ScriptedStages], None]) -> None:
    path, stages = tmp_path / "ends.json", ScriptedStages()
    label_once(ScriptedStages(), requests("5 5"), path, batch_rows=2, progress=False)
    change(stages)
    with pytest.raises(ConfigError, match="dtype or loop"):
        label_once(stages, requests("5 5"), path, batch_rows=2, progress=False)


def test_a_file_of_something_else_is_named(tmp_path: Path) -> None:
    path = tmp_path / "ends.json"
    path.write_text("[]")
    with pytest.raises(ConfigError, match=r"ends\.json holds no labels"):
        label_once(ScriptedStages(), requests("5 5"), path, batch_rows=2, progress=False)


def test_without_a_file_nothing_is_kept(tmp_path: Path) -> None:
    label_once(ScriptedStages(), requests("5 5"), None, batch_rows=2, progress=False)
    assert list(tmp_path.iterdir()) == []
