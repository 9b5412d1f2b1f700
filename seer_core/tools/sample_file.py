"""Questions of a user's own: a JSONL file with `image`, `prompt`, and, where they are known, `answer` and `kind`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from seer_core.errors import ConfigError
from seer_core.tools.evaluate import Sample

FIELDS = ("image", "prompt", "answer", "kind")


def load_samples(path: Path, count: int) -> list[Sample]:
    """The first `count` lines; `image` is a path relative to the file.

    Raises `ConfigError` naming the line and what is wrong with it: no JSON object, an unknown or missing field, an
    image that cannot be read.
    """
    try:
        lines = [line for line in path.read_text().splitlines() if line.strip()]
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror}", field="data") from error
    return [_sample(path, number, line) for number, line in enumerate(lines[:count], 1)]


def _sample(path: Path, number: int, line: str) -> Sample:
    where = f"{path}, line {number}"
    fields = _fields(where, line)
    try:
        image = (path.parent / fields["image"]).read_bytes()
    except OSError as error:
        raise ConfigError(f"{where}: the image {fields['image']} cannot be read: {error.strerror}") from error
    return Sample(
        image=image, prompt=fields["prompt"], answer=fields.get("answer", ""), kind=fields.get("kind", path.stem)
    )


def _fields(where: str, line: str) -> dict[str, Any]:
    try:
        fields = json.loads(line)
    except ValueError as error:
        raise ConfigError(f"{where}: not JSON: {error}", field="data") from error
    if not isinstance(fields, dict):
        raise ConfigError(f"{where}: not a JSON object", field="data")
    for name, value in fields.items():
        if name not in FIELDS:
            raise ConfigError(f"{where}: unknown field {name!r}; known are {', '.join(FIELDS)}", field="data")
        if not isinstance(value, str):
            raise ConfigError(f"{where}: {name} must be a text", field="data")
    for name in ("image", "prompt"):
        if name not in fields:
            raise ConfigError(f"{where}: {name} is missing", field="data")
    return fields
