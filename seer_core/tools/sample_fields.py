"""A row of a data set as a sample: which columns mean what, and the forms their values come in.

Every fault is a `ConfigError` that names the row.
"""

from __future__ import annotations

import ast
import base64
import binascii
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from seer_core.errors import ConfigError
from seer_core.tools.answer_metrics import metric_named
from seer_core.tools.choice_letter import LETTERS, right_letter
from seer_core.tools.evaluate import Sample
from seer_core.tools.row_file import Row

NAMES: Mapping[str, tuple[str, ...]] = {
    "id": ("id",),
    "image": ("image",),
    "question": ("question", "prompt"),
    "answers": ("answers", "answer"),
    "choices": ("choices", "options"),
    "metric": ("metric",),
    "kind": ("kind",),
}
"""What a sample has, and the columns it is looked for in; the first that a row has is taken."""

BY_LETTER = "Answer with the option's letter from the given choices directly."
LONGEST_PATH = 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """How rows are read.

    `columns` names a field's columns where the data set calls them otherwise: several make a question of several
    lines, or a choice each. `metric` is for the rows that name none; without it, rows with choices are scored by
    letter and others by exact match. `instruction` goes below every question; None means `BY_LETTER` below choices.
    """

    columns: Mapping[str, Sequence[str]] = field(default_factory=dict)
    metric: str | None = None
    instruction: str | None = None

    def __post_init__(self) -> None:
        if self.metric is not None:
            metric_named(self.metric)
        for name in self.columns:
            if name not in NAMES:
                near = get_close_matches(name, NAMES, n=1)
                hint = f"; did you mean {near[0]!r}?" if near else ""
                raise ConfigError(f"unknown field {name!r}, known are {', '.join(NAMES)}{hint}", field="fields")

    def value(self, row: Row, name: str) -> Any:
        """A field's value; a list of those of several columns, without the empty ones; None where there is none."""
        if name not in self.columns:
            return next((row.values[column] for column in NAMES[name] if column in row.values), None)
        columns = self.columns[name]
        for column in columns:
            if column not in row.values:
                raise ConfigError(f"{row.where}: there is no column {column!r} for {name}", field="fields")
        values = [row.values[column] for column in columns]
        return values[0] if len(values) == 1 else [value for value in values if value not in (None, "")]

    def check_names(self, row: Row) -> None:
        """Refuse names nobody asked for in a file written for this program; data sets come with many."""
        known = {name for names in (*NAMES.values(), *self.columns.values()) for name in names}
        for name in () if row.loose else row.values:
            if name not in known:
                near = get_close_matches(name, sorted(known), n=1)
                hint = f"; did you mean {near[0]!r}?" if near else ""
                raise ConfigError(f"{row.where}: unknown field {name!r}{hint}", field="data")


def sample_of(row: Row, form: Form) -> Sample:
    """The row's sample. A row needs an image and a question; what it is scored against may be missing."""
    form.check_names(row)
    choices = tuple(_texts(row, "choices", _listed(form.value(row, "choices"))))
    if len(choices) > len(LETTERS):
        raise ConfigError(f"{row.where}: {len(choices)} choices, there are letters for {len(LETTERS)}", field="data")
    metric = _text(row, "metric", form.value(row, "metric")) or form.metric or ("choice" if choices else "exact")
    return Sample(
        id=_text(row, "id", form.value(row, "id")) or f"{row.file.name}:{row.number}",
        image=_image(row, form.value(row, "image")),
        prompt=_prompt(row, form, choices),
        answers=_answers(row, form.value(row, "answers"), choices, metric),
        choices=choices,
        metric=metric,
        kind=_text(row, "kind", form.value(row, "kind")) or row.file.stem,
    )


def _prompt(row: Row, form: Form, choices: Sequence[str]) -> str:
    question = "\n".join(_texts(row, "question", form.value(row, "question")))
    if not question:
        raise ConfigError(f"{row.where}: question is missing", field="data")
    instruction = form.instruction if form.instruction is not None else BY_LETTER if choices else ""
    lettered = [f"{letter}. {one}" for letter, one in zip(LETTERS, choices, strict=False)]
    return "\n".join(filter(None, [question, *lettered, instruction]))


def _answers(row: Row, value: Any, choices: Sequence[str], metric: str) -> tuple[str, ...]:
    """Where there are choices, a whole number is the place of one, counted from 0."""
    try:
        metric_named(metric)
    except ConfigError as error:
        raise ConfigError(f"{row.where}: {error}", field="metric") from error
    many = value if isinstance(value, list) else [value]
    if choices and all(type(one) is int and 0 <= one < len(choices) for one in many):
        many = [LETTERS[one] for one in many]
    answers = tuple(_texts(row, "answers", many))
    if metric != "choice":
        return answers
    if not choices:
        raise ConfigError(f"{row.where}: the metric choice needs choices", field="data")
    for one in answers:
        if right_letter(one, choices) is None:
            raise ConfigError(f"{row.where}: the answer {one!r} is none of the choices", field="data")
    return answers


def _image(row: Row, value: Any) -> bytes:
    """Bytes; or `{bytes, path}`, as data sets hold them; or a path beside the file, a data URL, or base64."""
    if isinstance(value, dict):
        value = value.get("bytes") or value.get("path")
    if isinstance(value, bytes):
        return value
    if not isinstance(value, str) or not value:
        raise ConfigError(
            f"{row.where}: image {'is missing' if not value else 'must be a path or bytes'}", field="data"
        )
    if value.startswith("data:"):
        return _base64(row, value.partition(",")[2])
    path = row.file.parent / value
    if len(value) <= LONGEST_PATH and (path.exists() or "." in value):
        return _read(row, path)
    return _base64(row, value)


def _read(row: Row, path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise ConfigError(f"{row.where}: the image {path} cannot be read: {error.strerror}", field="data") from error


def _base64(row: Row, text: str) -> bytes:
    try:
        return base64.b64decode("".join(text.split()), validate=True)
    except (binascii.Error, ValueError) as error:
        raise ConfigError(f"{row.where}: the image is neither a file there nor base64", field="data") from error


def _listed(value: Any) -> Any:
    """A list, also one that its publisher wrote down as text."""
    if not isinstance(value, str):
        return value
    try:
        return ast.literal_eval(value)
    except (ValueError, SyntaxError):
        return value


def _texts(row: Row, name: str, value: Any) -> list[str]:
    """One text or many; nothing gives none."""
    many = value if isinstance(value, list | tuple) else [] if value is None else [value]
    return [_text(row, name, one) for one in many if one is not None]


def _text(row: Row, name: str, value: Any) -> str:
    if value is None:
        return ""
    if not isinstance(value, str | int | float):
        raise ConfigError(f"{row.where}: {name} must be a text", field="data")
    return str(value)
