"""Questions from files: read in order, as far as asked for, and as late as possible."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow
import pytest
from pyarrow import parquet

from seer_core.errors import ConfigError
from seer_core.tools.sample_fields import Form
from seer_core.tools.sample_file import open_samples


def written(file: Path, *questions: str) -> Path:
    lines = [json.dumps({"image": "a.png", "prompt": question, "answer": "this"}) for question in questions]
    (file.parent / "a.png").write_bytes(b"picture")
    file.write_text("\n".join(lines))
    return file


def test_samples_come_in_order_up_to_the_count(tmp_path: Path) -> None:
    samples = open_samples(written(tmp_path / "a.jsonl", "What?", "Why?", "Who?"), 2)
    assert len(samples) == 2
    assert [sample.prompt for sample in samples] == ["What?", "Why?"]
    assert [sample.id for sample in samples] == ["a.jsonl:1", "a.jsonl:2"]


def test_a_folder_is_all_its_files_one_after_the_other(tmp_path: Path) -> None:
    written(tmp_path / "b.jsonl", "Third?")
    rows = [{"image": b"picture", "query": question, "answer": "this"} for question in ("First?", "Second?")]
    parquet.write_table(pyarrow.Table.from_pylist(rows), tmp_path / "a.parquet")
    with pytest.raises(ConfigError, match="no column 'query'"):
        list(open_samples(tmp_path, form=Form(columns={"question": ["query"]})))
    samples = open_samples(tmp_path, 2, Form(columns={"question": ["query"]}))
    assert [(sample.prompt, sample.image) for sample in samples] == [("First?", b"picture"), ("Second?", b"picture")]
    assert len(open_samples(tmp_path)) == 3


def test_a_count_beyond_the_end_is_what_is_there(tmp_path: Path) -> None:
    assert len(open_samples(written(tmp_path / "a.jsonl", "What?"), 9)) == 1


def test_rows_that_are_not_asked_for_are_not_read(tmp_path: Path) -> None:
    file = written(tmp_path / "a.jsonl", "What?")
    file.write_text(file.read_text() + "\n{broken")
    assert [sample.prompt for sample in open_samples(file, 1)] == ["What?"]


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="nowhere"):
        open_samples(tmp_path / "nowhere.jsonl")
