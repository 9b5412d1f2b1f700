"""Records survive a stop, and never mix with those of other settings."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from seer_core.errors import ConfigError
from seer_core.probe.profile import PaperRule, Profile
from seer_core.tools.evaluation_file import EvaluationFile, Settings, settings_of
from seer_core.tools.evaluation_record import Record
from seer_core.types import Decoding

PROFILE = Profile(fingerprint="weights")
SETTINGS = settings_of(PROFILE, canvas_tokens=64, decoding=Decoding(), dtype="torch.float32")

RECORD = Record(
    id="a",
    sample="0123",
    kind="list",
    metric="exact",
    answers=("red circle", "circle"),
    text="red",
    text_untruncated="red circle",
    score=0.0,
    score_untruncated=1.0,
    exact=False,
    exact_untruncated=True,
    agrees=False,
    agrees_oracle=True,
    detector="readout",
    canvas_tokens=64,
    end=2,
    boundary=None,
    forecast_tokens=64,
    kept_tokens=64,
    margin_cost_tokens=0,
    answer_tokens=1,
    answer_tokens_untruncated=2,
    regrown=0,
    steps=2,
    steps_untruncated=64,
)


def test_what_was_added_is_there_after_opening_again(tmp_path: Path) -> None:
    path = tmp_path / "new" / "records.jsonl"
    file = EvaluationFile(path, SETTINGS)
    assert file.records == {}
    file.add([RECORD, replace(RECORD, id="b", text="ünïcode\u2028 line")])
    again = EvaluationFile(path, SETTINGS)
    assert again.records == file.records
    again.add([replace(RECORD, id="c")])
    assert list(EvaluationFile(path, SETTINGS).records) == ["a", "b", "c"]
    assert [json.loads(line).get("id") for line in path.read_text().splitlines()] == [None, "a", "b", "c"]


def test_a_line_that_was_not_finished_is_dropped_and_the_next_starts_afresh(tmp_path: Path) -> None:
    path = tmp_path / "records.jsonl"
    EvaluationFile(path, SETTINGS).add([RECORD, replace(RECORD, id="b")])
    path.write_bytes(path.read_bytes()[:-40])
    file = EvaluationFile(path, SETTINGS)
    assert list(file.records) == ["a"]
    file.add([replace(RECORD, id="c")])
    assert list(EvaluationFile(path, SETTINGS).records) == ["a", "c"]


@pytest.mark.parametrize(
    ("other", "named"),
    [
        (
            settings_of(PROFILE, canvas_tokens=128, decoding=Decoding(), dtype="torch.float32"),
            "canvas_tokens 64, not 128",
        ),
        (
            settings_of(PROFILE, canvas_tokens=64, decoding=Decoding(detector="paper"), dtype="torch.float32"),
            "decoding",
        ),
        (settings_of(PROFILE, canvas_tokens=64, decoding=Decoding(), dtype="torch.bfloat16"), "torch.bfloat16"),
        (
            settings_of(
                replace(PROFILE, paper=PaperRule(layer=1)), canvas_tokens=64, decoding=Decoding(), dtype="torch.float32"
            ),
            "made with profile",
        ),
    ],
)
def test_other_settings_are_refused_by_name(tmp_path: Path, other: Settings, named: str) -> None:
    path = tmp_path / "records.jsonl"
    EvaluationFile(path, SETTINGS).add([RECORD])
    before = path.read_bytes()
    with pytest.raises(ConfigError, match=named):
        EvaluationFile(path, other)
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("content", "named"), [("hello\n", "no file of"), ("[]\n", "no file of"), ("{}\n", "no file of")]
)
def test_another_file_is_left_alone(tmp_path: Path, content: str, named: str) -> None:
    path = tmp_path / "notes.txt"
    path.write_text(content)
    with pytest.raises(ConfigError, match=named):
        EvaluationFile(path, SETTINGS)
    assert path.read_text() == content


def test_a_broken_record_is_named_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "records.jsonl"
    EvaluationFile(path, SETTINGS).add([RECORD])
    path.write_text(path.read_text() + '{"id": "b"}\n')
    with pytest.raises(ConfigError, match="line 3: no evaluation record"):
        EvaluationFile(path, SETTINGS)
