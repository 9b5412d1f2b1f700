"""Rows of data sets on this disk: JSONL and parquet files, read lazily, one row at a time.

Knows nothing of what the columns mean.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from seer_core.errors import ConfigError

SUFFIXES = (".jsonl", ".parquet")
ROWS_AT_ONCE = 32
"""Of a parquet file; rows hold pictures, so few of them lie in memory."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """`number` counts from 1. `loose` rows come with whatever columns their publisher gave them."""

    file: Path
    number: int
    values: dict[str, Any]
    loose: bool

    @property
    def where(self) -> str:
        return f"{self.file}, {'row' if self.loose else 'line'} {self.number}"


def data_files(path: Path) -> list[Path]:
    """The file itself, or a folder's JSONL and parquet files by name; raises `ConfigError` where there is none."""
    if path.is_dir():
        files = sorted(file for file in path.iterdir() if file.suffix in SUFFIXES)
        if not files:
            raise ConfigError(f"{path} holds no {' or '.join(SUFFIXES)} file", field="data")
        return files
    if path.suffix not in SUFFIXES:
        raise ConfigError(f"{path} is neither a folder nor a {' or '.join(SUFFIXES)} file", field="data")
    if not path.exists():
        raise ConfigError(f"{path} cannot be read: there is no such file", field="data")
    return [path]


def count_rows(file: Path) -> int:
    """How many rows `rows_of` will give."""
    if file.suffix == ".parquet":
        return int(_parquet(file).metadata.num_rows)
    return sum(1 for _ in _lines(file))


def rows_of(file: Path) -> Iterator[Row]:
    """All rows in order. Raises `ConfigError` naming the line that is no JSON object, or a file that cannot be read."""
    if file.suffix == ".parquet":
        batches = _parquet(file).iter_batches(batch_size=ROWS_AT_ONCE)
        values = (row for batch in batches for row in batch.to_pylist())
        yield from (Row(file=file, number=at, values=row, loose=True) for at, row in enumerate(values, 1))
        return
    for number, line in enumerate(_lines(file), 1):
        row = Row(file=file, number=number, values={}, loose=False)
        yield Row(file=file, number=number, values=_object(row.where, line), loose=False)


def _lines(file: Path) -> Iterator[str]:
    """Those with anything in them."""
    try:
        with file.open(encoding="utf-8") as lines:
            yield from (line for line in lines if line.strip())
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{file} cannot be read: {error}", field="data") from error


def _object(where: str, line: str) -> dict[str, Any]:
    try:
        values = json.loads(line)
    except ValueError as error:
        raise ConfigError(f"{where}: not JSON: {error}", field="data") from error
    if not isinstance(values, dict):
        raise ConfigError(f"{where}: not a JSON object", field="data")
    return values


def _parquet(file: Path) -> Any:
    try:
        from pyarrow import ArrowException, parquet
    except ImportError as error:
        raise ConfigError(f"reading {file.name} needs pyarrow: pip install 'seer[data]'", field="data") from error
    try:
        return parquet.ParquetFile(file)
    except (OSError, ArrowException) as error:
        raise ConfigError(f"{file} cannot be read: {error}", field="data") from error
