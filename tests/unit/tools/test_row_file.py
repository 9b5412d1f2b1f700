"""Rows out of JSONL and parquet files, and what is said of files that hold none."""

from __future__ import annotations

import sys
from pathlib import Path

import pyarrow
import pytest
from pyarrow import parquet

from seer_core.errors import ConfigError
from seer_core.tools.row_file import count_rows, data_files, rows_of


def test_a_jsonl_files_lines_are_rows_and_empty_ones_are_none(tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"
    file.write_text('{"x": 1}\n\n  \n{"x": "ü"}\n', encoding="utf-8")
    assert count_rows(file) == 2
    assert [(row.number, row.values) for row in rows_of(file)] == [(1, {"x": 1}), (2, {"x": "ü"})]
    assert [row.where for row in rows_of(file)][1] == f"{file}, line 2"


def test_a_parquet_files_rows_come_in_order_with_bytes_lists_and_records(tmp_path: Path) -> None:
    file = tmp_path / "a.parquet"
    rows = [{"image": {"bytes": b"\x89", "path": None}, "answers": ["a", str(at)], "n": at} for at in range(70)]
    parquet.write_table(pyarrow.Table.from_pylist(rows), file, row_group_size=16)
    assert count_rows(file) == 70
    read = list(rows_of(file))
    assert [row.values for row in read] == rows
    assert read[3].where == f"{file}, row 4"


def test_a_folder_gives_its_data_files_by_name(tmp_path: Path) -> None:
    for name in ("b.jsonl", "a.parquet", "a.png", "notes.txt"):
        (tmp_path / name).touch()
    assert [file.name for file in data_files(tmp_path)] == ["a.parquet", "b.jsonl"]
    assert data_files(tmp_path / "b.jsonl") == [tmp_path / "b.jsonl"]


def test_what_holds_no_data_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"holds no \.jsonl or \.parquet"):
        data_files(tmp_path)
    with pytest.raises(ConfigError, match="neither a folder"):
        data_files(tmp_path / "a.csv")
    with pytest.raises(ConfigError, match=r"nowhere\.jsonl cannot be read"):
        data_files(tmp_path / "nowhere.jsonl")


@pytest.mark.parametrize(("line", "named"), [("{", "line 2: not JSON"), ("[1]", "line 2: not a JSON object")])
def test_a_line_that_is_no_object_is_named(tmp_path: Path, line: str, named: str) -> None:
    file = tmp_path / "a.jsonl"
    file.write_text(f"{{}}\n{line}\n")
    with pytest.raises(ConfigError, match=named):
        list(rows_of(file))


def test_files_in_another_encoding_or_format_are_named(tmp_path: Path) -> None:
    for name in ("a.jsonl", "a.parquet"):
        (tmp_path / name).write_bytes(b'{"x": "\xff\xfe"}\n')
        with pytest.raises(ConfigError, match=f"{name} cannot be read"):
            list(rows_of(tmp_path / name))


def test_without_pyarrow_a_parquet_file_says_how_to_get_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.parquet").touch()
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ConfigError, match=r"pip install 'seer\[data\]'"):
        count_rows(tmp_path / "a.parquet")
