"""Questions of a user's own, from a JSONL or parquet file or a folder of them, read as they are asked for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from seer_core.tools.evaluate import Sample
from seer_core.tools.row_file import count_rows, data_files, rows_of
from seer_core.tools.sample_fields import Form, sample_of


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleFile:
    """The first `count` samples of `files`, or all of them. Going through it again reads the files again."""

    files: tuple[Path, ...]
    count: int
    form: Form = field(default_factory=Form)

    def __len__(self) -> int:
        return self.count

    def __iter__(self) -> Iterator[Sample]:
        """Raises `ConfigError` naming the row at fault, when it is reached."""
        rows = (row for file in self.files for row in rows_of(file))
        return (sample_of(row, self.form) for row in islice(rows, self.count))


def open_samples(path: Path, count: int | None = None, form: Form | None = None) -> SampleFile:
    """Raises `ConfigError` for a path that holds no data, or data that cannot be read."""
    files = tuple(data_files(path))
    there = sum(map(count_rows, files))
    return SampleFile(
        files=files,
        count=there if count is None else min(count, there),
        form=form if form is not None else Form(),
    )
