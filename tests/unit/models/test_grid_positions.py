"""Positions by time, height and width."""

from __future__ import annotations

from seer_core.models.grid_positions import grid_positions

IMAGE = 9


def test_text_counts_on_in_all_three_directions() -> None:
    assert grid_positions([5, 6, 7], [], IMAGE).tolist() == [[0, 1, 2]] * 3


def test_an_image_stands_at_one_time_and_text_goes_on_behind_its_longer_side() -> None:
    time, height, width = grid_positions([5, IMAGE, 6], [(3, 2)], IMAGE).tolist()
    assert time == [0, 1, 1, 1, 1, 1, 1, 4]
    assert height == [0, 1, 1, 1, 2, 2, 2, 4]
    assert width == [0, 1, 2, 3, 1, 2, 3, 4]


def test_images_side_by_side_each_start_behind_the_one_before() -> None:
    time, height, width = grid_positions([IMAGE, IMAGE], [(1, 2), (2, 1)], IMAGE).tolist()
    assert (time, height, width) == ([0, 0, 2, 2], [0, 1, 2, 2], [0, 0, 2, 3])
