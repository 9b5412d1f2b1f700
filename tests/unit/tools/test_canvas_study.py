"""Lengths of the same answers on canvases of many lengths."""

from __future__ import annotations

from pathlib import Path

from seer_core.tools.canvas_study import plot_canvases, study_canvases
from seer_core.types import GenerationRequest, Message
from tests.unit.tools.stand_ins import ScriptedStages


def requests(*texts: str) -> list[GenerationRequest]:
    return [GenerationRequest(id=text, messages=(Message(role="user", text=text),)) for text in texts]


def test_lengths_are_compared_on_the_answers_that_end_on_every_canvas() -> None:
    rows = study_canvases(ScriptedStages(), requests("5 6", "9 9", "20 -"), [32, 16], progress=False)
    assert [row["canvas"] for row in rows] == [16, 32]
    assert [row["ended_inside"] for row in rows] == [2, 3]
    assert [row["rows_ended_everywhere"] for row in rows] == [2, 2]
    assert [row["mean_answer_tokens"] for row in rows] == [7.0, 7.0]
    assert [row["mean_predicted_tokens"] for row in rows] == [7.5, 7.5]
    assert [row["same_length_as_longest_canvas"] for row in rows] == [1.0, 1.0]


def test_where_no_answer_ends_everywhere_there_is_no_mean() -> None:
    rows = study_canvases(ScriptedStages(), requests("20 -"), [16, 32], progress=False)
    assert [row["mean_answer_tokens"] for row in rows] == [None, None]


def test_the_lengths_are_drawn(tmp_path: Path) -> None:
    plot_canvases(study_canvases(ScriptedStages(), requests("5 5"), [16, 32], progress=False), tmp_path / "it.png")
    assert (tmp_path / "it.png").stat().st_size > 1000
