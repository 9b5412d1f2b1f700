"""Streams: however an answer arrives, what leaves is the same, whole and without stop strings."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from seer_core.engine.transcript import Transcript
from tests.unit.engine.stage import BYTES, decode

TOKENS = st.lists(st.sampled_from([0, 1, 2, *range(len(BYTES) - 5, len(BYTES))]), max_size=30)
STOPS = st.lists(st.text("abc€", min_size=1, max_size=4), max_size=3)


def stream(tokens: list[int], stop: list[str], cuts: list[int]) -> list[str]:
    """The text after each update, for an answer that arrives in pieces ending at `cuts`."""
    transcript = Transcript(decode, stop)
    seen = [""]
    for cut in sorted(cuts):
        seen.append(seen[-1] + transcript.update(tokens[:cut], final=False))
    seen.append(seen[-1] + transcript.update(tokens, final=True))
    assert seen[-1] == transcript.text
    return seen


@given(TOKENS, STOPS, st.data())
def test_the_text_does_not_depend_on_the_pieces(tokens: list[int], stop: list[str], data: st.DataObject) -> None:
    cuts = data.draw(st.lists(st.integers(0, len(tokens)), max_size=6))
    every = stream(tokens, stop, list(range(len(tokens) + 1)))
    some = stream(tokens, stop, cuts)
    assert every[-1] == some[-1]
    assert all(some[-1].startswith(part) for part in some)


@given(TOKENS, STOPS)
def test_no_stop_string_and_no_half_character_is_ever_out(tokens: list[int], stop: list[str]) -> None:
    for part in stream(tokens, stop, list(range(len(tokens) + 1))):
        assert not any(each in part for each in stop)
        assert decode(tokens).startswith(part)


@given(TOKENS)
def test_without_stop_strings_nothing_but_half_a_last_character_is_lost(tokens: list[int]) -> None:
    assert stream(tokens, [], [])[-1] == decode(tokens).rstrip("\ufffd")
