"""Records on disk, one JSON object a line, so that an evaluation that was stopped goes on where it was.

The first line holds the settings; a file made with others is refused, for its records would not compare.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

from seer_core.errors import ConfigError
from seer_core.probe.profile import Profile
from seer_core.tools.evaluation_record import Record
from seer_core.types import Decoding

FORMAT = 1

Settings = Mapping[str, Any]


class EvaluationFile:
    """`records` holds what the file has, by the samples' ids; `add` appends to both."""

    def __init__(self, path: Path, settings: Settings) -> None:
        """Go on with the file, or begin it. Raises `ConfigError` for other settings and lines that are no records."""
        self.records: dict[str, Record] = {}
        self._path = path
        written = json.loads(json.dumps(settings))
        lines = _whole_lines(path)
        if not lines:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps({"settings": written}) + "\n", encoding="utf-8")
            return
        self._check(lines[0], written)
        for number, line in enumerate(lines[1:], 2):
            record = _record(f"{path}, line {number}", line)
            self.records[record.id] = record

    def add(self, records: Sequence[Record]) -> None:
        """Written before this returns: what is here need not be computed again."""
        with self._path.open("a", encoding="utf-8") as file:
            file.writelines(json.dumps(asdict(record), allow_nan=False) + "\n" for record in records)
        self.records.update((record.id, record) for record in records)

    def _check(self, line: str, wanted: Settings) -> None:
        try:
            found = json.loads(line)["settings"]
            differing = [name for name in sorted({*found, *wanted}) if found.get(name) != wanted.get(name)]
        except (ValueError, TypeError, KeyError) as error:
            raise ConfigError(f"{self._path} is no file of evaluation records", field="out") from error
        if differing:
            told = "; ".join(f"{name} {found.get(name)!r}, not {wanted.get(name)!r}" for name in differing)
            raise ConfigError(f"{self._path} was made with {told}: choose another file", field="out")


def settings_of(profile: Profile, *, canvas_tokens: int, decoding: Decoding, dtype: str) -> Settings:
    """What must be the same for records to compare. The questions are not in it: each record knows its own."""
    return {
        "format": FORMAT,
        "checkpoint": profile.fingerprint,
        "profile": hashlib.sha256(repr(profile).encode()).hexdigest()[:16],
        "canvas_tokens": canvas_tokens,
        "decoding": asdict(decoding),
        "dtype": dtype,
    }


def _whole_lines(path: Path) -> list[str]:
    """The file's lines; a last one that was not finished is cut off the file."""
    try:
        data = path.read_bytes() if path.exists() else b""
        whole = data[: data.rfind(b"\n") + 1]
        if len(whole) < len(data):
            path.write_bytes(whole)
        return whole.decode("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} cannot be read: {error}", field="out") from error


def _record(where: str, line: str) -> Record:
    try:
        values = json.loads(line)
        if set(values) != {one.name for one in fields(Record)}:
            raise ValueError("other fields")
        return Record(**{**values, "answers": tuple(values["answers"])})
    except (ValueError, TypeError) as error:
        raise ConfigError(f"{where}: no evaluation record: {error}", field="out") from error
