"""Options are resolved once, and refused by name."""

from __future__ import annotations

from typing import Any

import pytest

from seer_core.engine.config import EngineConfig
from seer_core.engine.row import ActiveRow, Row
from seer_core.errors import InvalidRequest
from seer_core.types import Decoding, Sampling
from tests.unit.engine.stage import ROLES, decode, make_row


def start(row: Row) -> ActiveRow:
    return ActiveRow(row, roles=ROLES, decode=decode, config=EngineConfig())


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("steps_per_token", 0.0),
        ("steps_per_token", 1.5),
        ("block_length", 0),
        ("schedule_shift", 0.0),
        ("schedule_shift", float("inf")),
        ("schedule", "evenly"),
        ("remasking", "entrophy"),
        ("commit", "treshold"),
        ("commit_threshold", float("nan")),
        ("commit_factor", 0.0),
        ("commit_factor", float("inf")),
    ],
)
def test_decoding_that_cannot_be_is_refused_by_name(field: str, value: Any) -> None:
    with pytest.raises(InvalidRequest) as refusal:
        start(make_row(decoding=Decoding(**{field: value})))
    assert refusal.value.field == field


@pytest.mark.parametrize(("field", "value"), [("max_tokens", 0), ("temperature", -0.1), ("top_p", 0.0), ("top_p", 1.1)])
def test_sampling_that_cannot_be_is_refused_by_name(field: str, value: Any) -> None:
    with pytest.raises(InvalidRequest) as refusal:
        start(make_row(sampling=Sampling(**{field: value})))
    assert refusal.value.field == field


def test_an_unknown_name_is_answered_with_the_nearest_known() -> None:
    with pytest.raises(InvalidRequest, match="did you mean 'entropy'"):
        start(make_row(decoding=Decoding(remasking="entrophy")))


def test_a_forecast_never_gives_more_canvas_than_was_asked_for() -> None:
    assert len(start(make_row(canvas=40, max_tokens=10)).canvas) == 10


def test_a_request_that_names_no_block_length_takes_the_familys() -> None:
    assert start(make_row()).block_length == EngineConfig().block_length
    assert start(make_row(decoding=Decoding(block_length=4))).block_length == 4
