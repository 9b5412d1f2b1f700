"""What may leave, and when."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from seer_core.engine.transcript import Transcript
from seer_core.errors import EngineError
from tests.unit.engine.stage import BYTES, decode, spell

EURO = [BYTES.index(b) for b in (b"\xe2", b"\x82", b"\xac")]


def sent(tokens: Sequence[int], stop: Sequence[str] = ()) -> list[str]:
    """What leaves as the answer grows token by token and then closes."""
    transcript = Transcript(decode, stop)
    parts = [transcript.update(tokens[:n], final=False) for n in range(len(tokens) + 1)]
    return [*parts, transcript.update(tokens, final=True)]


def test_text_leaves_as_it_becomes_known() -> None:
    assert sent(spell("abc")) == ["", "a", "b", "c", ""]


def test_a_character_leaves_whole() -> None:
    assert sent([*spell("a"), *EURO, *spell("b")]) == ["", "a", "", "", "€", "b", ""]


def test_half_a_character_at_the_end_never_leaves() -> None:
    assert sent([*spell("a"), *EURO[:2]]) == ["", "a", "", "", ""]


def test_bytes_that_are_no_character_leave_once_more_follows() -> None:
    assert sent([EURO[0], *spell("a")]) == ["", "", "\ufffda", ""]


def test_a_tail_waits_while_it_may_become_a_stop_string() -> None:
    assert sent(spell("xaby"), ["abc"]) == ["", "x", "", "", "aby", ""]


def test_a_waiting_tail_leaves_when_the_answer_closes() -> None:
    assert sent(spell("xab"), ["abc"]) == ["", "x", "", "", "ab"]


def test_a_stop_string_is_cut_and_nothing_follows() -> None:
    transcript = Transcript(decode, ["bc"])
    assert transcript.update(spell("abcd"), final=False) == "a"
    assert transcript.stopped
    assert transcript.update(spell("abcdef"), final=True) == ""
    assert transcript.text == "a"


def test_the_stop_string_complete_first_cuts_however_many_tokens_come_at_once() -> None:
    for stop in (["abcd", "bc"], ["bc", "abcd"]):
        assert "".join(sent(spell("xabcd"), stop)) == "xa"
        at_once = Transcript(decode, stop)
        assert at_once.update(spell("xabcd"), final=True) == "xa"


def test_a_stop_string_may_overlap_itself() -> None:
    assert "".join(sent(spell("aaab"), ["aab"])) == "a"


def test_an_empty_stop_string_stops_nothing() -> None:
    assert "".join(sent(spell("abc"), [""])) == "abc"


def test_the_tokens_of_a_cut_answer_say_what_was_sent() -> None:
    transcript = Transcript(decode, ["cd"])
    tokens = spell("abcdef")
    transcript.update(tokens, final=False)
    assert transcript.tokens_of(tokens) == tuple(spell("ab"))


def test_a_tokenizer_that_rewrites_sent_text_is_an_error() -> None:
    transcript = Transcript(lambda ids: "a b"[: len(ids)] if len(ids) < 3 else "ab", [])
    transcript.update([0, 1], final=False)
    with pytest.raises(EngineError, match="changed text"):
        transcript.update([0, 1, 2], final=False)
