"""Commit counts against the reference loop, and what every schedule must keep."""

from __future__ import annotations

from itertools import accumulate

import pytest

from seer_core.engine.schedule import MAX_SHIFT, SCHEDULES, cosine, even, shifted, steps_for


def test_even_gives_the_first_steps_the_remainder() -> None:
    assert even(10, 4, 3.0) == (3, 3, 2, 2)


def test_shift_follows_the_counts_of_the_reference_loop() -> None:
    long = [6, 10, 14, 17, 19, 21, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32]
    assert list(accumulate(shifted(32, 16, 0.33))) == long
    assert list(accumulate(shifted(16, 8, 0.33))) == [5, 9, 11, 12, 13, 14, 15, 16]


def test_a_shift_below_one_commits_early_and_one_above_commits_late() -> None:
    assert shifted(32, 8, 0.33)[0] > shifted(32, 8, 0.33)[-1]
    assert shifted(32, 8, 3.0)[0] < shifted(32, 8, 3.0)[-1]


def test_cosine_commits_most_in_the_middle() -> None:
    counts = cosine(64, 8, 3.0)
    assert max(counts) in counts[2:6]
    assert counts[0] < max(counts) > counts[-1]


@pytest.mark.parametrize("name", SCHEDULES)
@pytest.mark.parametrize("shift", [1e-300, 0.1, 0.33, 1.0, 3.0, 20.0, MAX_SHIFT])
def test_every_schedule_commits_every_mask_and_something_at_each_step(name: str, shift: float) -> None:
    for masks in range(1, 40):
        for steps in range(1, 40):
            counts = SCHEDULES[name](masks, steps, shift)
            assert sum(counts) == masks
            assert min(counts) >= 1
            assert len(counts) == min(masks, steps)


def test_a_block_takes_its_share_of_steps_rounded_up() -> None:
    assert [steps_for(n, 0.5) for n in (1, 2, 3, 32)] == [1, 1, 2, 16]
    assert steps_for(13, 1.0) == 13
    assert steps_for(8, 0.01) == 1


def test_rounding_errors_of_the_ratio_cost_no_step() -> None:
    assert 0.07 * 100 > 7
    assert steps_for(100, 0.07) == 7
