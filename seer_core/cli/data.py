"""Questions of a user's own: the options that name them and say how they are read, the same for every command."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from seer_core.errors import ConfigError

if TYPE_CHECKING:
    from seer_core.tools.sample_fields import Form
    from seer_core.tools.sample_file import SampleFile

DRAWN = "embedded"
"""As a data set's name: the drawn scenes that the embedded model was trained on."""


def add_data_options(command: argparse.ArgumentParser, *, scored: bool = True) -> None:
    """Add them to a command; how answers are scored only where they are."""
    about = "your own questions: a .jsonl or .parquet file or a folder of them; without it, or embedded: drawn scenes"
    command.add_argument("--data", type=Path, metavar="FILE|DIR", help=about)
    about = "where the data calls them otherwise: question=query, choices=A,B,C,D"
    command.add_argument("--fields", type=_columns, nargs="+", default=[], metavar="NAME=COLUMN", help=about)
    about = "for rows that name none: anls, relaxed, exact, yes_no, choice"
    if scored:
        command.add_argument("--metric", metavar="NAME", help=about)
    else:
        command.set_defaults(metric=None)
    command.add_argument("--instruction", metavar="TEXT", help="goes below every question")


def own_samples(options: argparse.Namespace, count: int | None) -> SampleFile | None:
    """The first `count` of the user's questions, or all; None where scenes are to be drawn.

    Raises `ConfigError` for an unknown field or metric, and for data without a question.
    """
    from seer_core.tools.sample_file import open_samples

    form = form_of(options)
    if is_drawn(options):
        return None
    samples = open_samples(options.data, count, form)
    if not len(samples):
        raise ConfigError(f"{options.data} holds no questions", field="data")
    return samples


def form_of(options: argparse.Namespace) -> Form:
    """How the rows are read."""
    from seer_core.tools.sample_fields import Form

    return Form(columns=dict(options.fields), metric=options.metric, instruction=options.instruction)


def is_drawn(options: argparse.Namespace) -> bool:
    """Whether the questions are drawn scenes."""
    return options.data is None or str(options.data) == DRAWN


def _columns(text: str) -> tuple[str, list[str]]:
    name, equals, columns = text.partition("=")
    if not (name and equals and all(columns.split(","))):
        raise argparse.ArgumentTypeError(f"{text!r} is not NAME=COLUMN or NAME=COLUMN,COLUMN")
    return name, columns.split(",")
