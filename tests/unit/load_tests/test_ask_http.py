"""An answer over HTTP is whole, or its fault is named."""

from __future__ import annotations

import json

import pytest

from load_tests.ask_http import fault_of_events, fault_of_reason

LAST = json.dumps({"choices": [{"finish_reason": "stop", "delta": {}}]})
PIECE = json.dumps({"choices": [{"finish_reason": None, "delta": {"content": "a"}}]})


def test_a_stream_with_a_reason_and_an_end_is_whole() -> None:
    assert fault_of_events([PIECE, LAST, json.dumps({"choices": [], "usage": {}}), "[DONE]"]) is None


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ([], "without [DONE]; its last event: none"),
        ([PIECE, json.dumps({"error": {"message": "the worker died"}})], "the worker died"),
        ([PIECE, LAST], "without [DONE]"),
        ([PIECE, "[DONE]"], "finish_reason is None"),
    ],
)
def test_a_stream_cut_short_is_at_fault(data: list[str], said: str) -> None:
    assert said in (fault_of_events(data) or "")


def test_only_known_reasons_to_finish_are_good() -> None:
    assert fault_of_reason("length") is None
    assert fault_of_reason("") == "finish_reason is ''"
