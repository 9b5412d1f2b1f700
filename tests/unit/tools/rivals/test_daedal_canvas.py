from __future__ import annotations

from seer_core.tools.rivals.daedal_canvas import DaedalCanvas, DaedalSettings, Seen
from seer_core.types import TokenRoles

MASK, FILL, END, WORD = 9, 8, 7, 1
ROLES = TokenRoles(mask_id=MASK, fill_id=FILL, end_ids=frozenset({END, FILL}))
SMALL = DaedalSettings(start_tokens=4, growth_tokens=2, block_tokens=4, window_tokens=4)


def seen(answer: int, length: int, *, confidence: float = 0.95, doubts: dict[int, float] | None = None) -> Seen:
    """An answer of so many words, then the end token, then fill."""
    tokens = ([WORD] * answer + [END] + [FILL] * length)[:length]
    ends = [token != WORD for token in tokens]
    sure = [(doubts or {}).get(slot, confidence) for slot in range(length)]
    probability = [confidence if end else 0.0 for end in ends]
    return Seen(tokens=tokens, confidence=sure, end_probability=probability, end_likeliest=ends)


def grown(answer: int, limit: int = 32) -> DaedalCanvas:
    canvas = DaedalCanvas(limit, roles=ROLES, settings=SMALL)
    while canvas.started_tokens is None:
        canvas.step(seen(answer, len(canvas.tokens)))
    return canvas


def test_a_canvas_grows_until_half_its_window_ends_the_answer_and_gets_fill_behind() -> None:
    canvas = grown(5)
    assert canvas.tokens == [MASK] * 8 + [FILL] * 2  # 8 masks: three ends of a window of four
    assert (canvas.started_tokens, canvas.steps) == (8, 3)


def test_an_answer_that_fits_starts_at_once() -> None:
    assert grown(0).tokens == [MASK] * 4 + [FILL] * 2


def test_no_canvas_grows_beyond_its_limit() -> None:
    canvas = grown(30, limit=9)
    assert (canvas.tokens, canvas.started_tokens) == ([MASK] * 9, 9)


def test_what_is_sure_is_committed_together_and_the_row_ends_with_its_answer() -> None:
    canvas = grown(2)
    canvas.step(seen(2, len(canvas.tokens)))
    assert (canvas.answer, canvas.ended, canvas.complete) == ([WORD, WORD], True, True)
    assert canvas.steps == 3  # two to find a length, one for the answer


def test_where_nothing_is_sure_the_surest_is_committed_alone() -> None:
    canvas = grown(2)
    canvas.step(seen(2, len(canvas.tokens), confidence=0.5, doubts={1: 0.6}))
    assert canvas.tokens[:4] == [MASK, WORD, MASK, MASK]
    assert not canvas.complete


def test_blocks_are_filled_from_left_to_right() -> None:
    canvas = grown(6)
    canvas.step(seen(6, len(canvas.tokens)))
    assert canvas.tokens[:8] == [WORD] * 4 + [MASK] * 4
    canvas.step(seen(6, len(canvas.tokens)))
    assert canvas.answer == [WORD] * 6


def test_masks_are_inserted_at_the_least_sure_hole_while_the_tail_is_unsettled() -> None:
    canvas = grown(2)
    before = len(canvas.tokens)
    canvas.step(seen(2, before, confidence=0.5, doubts={0: 0.95, 1: 0.05, 2: 0.08}))
    assert (len(canvas.tokens), canvas.insertions) == (before + 1, 1)
    assert canvas.tokens[:4] == [WORD, MASK, MASK, MASK]


def test_a_settled_tail_stops_insertions() -> None:
    canvas = grown(2)
    canvas.step(seen(2, len(canvas.tokens), confidence=0.95, doubts={1: 0.05}))
    assert canvas.insertions == 0


def test_a_canvas_full_without_an_end_token_is_complete_and_not_ended() -> None:
    canvas = grown(30, limit=4)
    canvas.step(seen(30, 4))
    assert (canvas.complete, canvas.ended, canvas.answer) == (True, False, [WORD] * 4)
