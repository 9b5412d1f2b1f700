"""Blocks, gaps, ends and growth."""

from __future__ import annotations

from seer_core.engine.canvas import Canvas
from seer_core.engine.pace import Pace
from tests.unit.engine.stage import ROLES

MASK, END = ROLES.mask_id, 45


def one_a_step(length: int, masks: int) -> Pace:
    return lambda step, left: 1


def two_a_step(length: int, masks: int) -> Pace:
    return lambda step, left: 2


def canvas_of(length: int, block_length: int = 4) -> Canvas:
    return Canvas(length, roles=ROLES, block_length=block_length, paces=one_a_step)


def test_blocks_open_one_after_the_other_and_the_last_may_be_short() -> None:
    canvas = canvas_of(6)
    seen = []
    while not canvas.complete:
        seen.append(canvas.holes)
        canvas.commit(canvas.holes[:1], [1])
    assert seen == [[0, 1, 2, 3], [1, 2, 3], [2, 3], [3], [4, 5], [5]]
    assert canvas.tokens == [1] * 6


def test_a_step_may_commit_more_than_is_due_and_is_never_asked_for_more_than_is_left() -> None:
    canvas = Canvas(7, roles=ROLES, block_length=5, paces=two_a_step)
    canvas.commit([0, 2, 3], [1, 1, 1])
    assert (canvas.holes, canvas.due) == ([1, 4], 2)
    canvas.commit([4, 1], [1, 1])
    assert (canvas.holes, canvas.due) == ([5, 6], 2)
    canvas.commit([5, 6], [1, 1])
    assert canvas.complete


def test_what_is_due_shrinks_with_what_is_left() -> None:
    canvas = Canvas(6, roles=ROLES, block_length=6, paces=lambda length, masks: lambda step, left: (1, masks - 1)[step])
    canvas.commit([0, 1, 2, 5], [1] * 4)
    assert canvas.due == len(canvas.holes) == 2


def test_the_answer_is_known_up_to_the_first_gap() -> None:
    canvas = canvas_of(4)
    canvas.commit([2], [7])
    assert canvas.answer == []
    canvas.commit([0], [5])
    assert canvas.answer == [5]
    canvas.commit([1], [6])
    assert canvas.answer == [5, 6, 7]


def test_an_end_token_ends_the_answer_once_nothing_before_it_is_open() -> None:
    canvas = canvas_of(4)
    canvas.commit([1], [END])
    assert not canvas.ended
    canvas.commit([0], [5])
    assert canvas.ended
    assert not canvas.complete
    assert canvas.answer == [5]


def test_a_full_canvas_without_an_end_token_has_not_ended() -> None:
    canvas = canvas_of(2)
    canvas.commit([0], [5])
    canvas.commit([1], [6])
    assert canvas.complete
    assert not canvas.ended


def test_extending_keeps_what_is_committed_and_opens_one_block() -> None:
    canvas = canvas_of(2)
    canvas.commit([0], [5])
    canvas.commit([1], [6])
    canvas.extend(6)
    assert canvas.tokens == [5, 6] + [MASK] * 6
    assert canvas.holes == [2, 3, 4, 5, 6, 7]
    assert not canvas.complete


def test_nothing_behind_an_end_token_is_committed_where_the_loop_scans_for_one() -> None:
    canvas = Canvas(12, roles=ROLES, block_length=6, paces=one_a_step, stop="scan")
    canvas.commit([3], [END])
    assert canvas.holes == [0, 1, 2]
    for slot in (1, 0, 2):
        assert not canvas.complete
        canvas.commit([slot], [5])
    assert canvas.complete
    assert canvas.answer == [5, 5, 5]


def test_no_block_follows_one_that_ends_in_an_end_token_where_the_loop_looks_there() -> None:
    canvas = Canvas(6, roles=ROLES, block_length=2, paces=one_a_step, stop="block_end")
    for slot, token in ((0, END), (1, 5), (3, END), (2, 6)):
        assert not canvas.complete
        canvas.commit([slot], [token])
    assert canvas.complete
    assert canvas.tokens[4:] == [MASK, MASK]


def test_a_slot_known_beforehand_is_no_hole_and_takes_no_step() -> None:
    seen: list[tuple[int, int]] = []

    def paces(length: int, masks: int) -> Pace:
        seen.append((length, masks))
        return lambda step, left: 1

    canvas = Canvas(3, roles=ROLES, block_length=8, paces=paces)
    canvas.start_with(7)
    assert (canvas.tokens[0], canvas.holes, canvas.fresh) == (7, [1, 2], True)
    assert seen[-1] == (3, 2)
