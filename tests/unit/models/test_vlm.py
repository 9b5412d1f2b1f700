"""Pooling, joining tiles and splicing image tokens into a prompt."""

from __future__ import annotations

import torch

from seer_core.models.vlm import join_tiles, pool_half


def test_pooling_an_even_side_averages_two_by_two() -> None:
    features = torch.arange(16.0).reshape(1, 4, 4, 1)
    assert pool_half(features).flatten().tolist() == [2.5, 4.5, 10.5, 12.5]


def test_pooling_an_odd_side_rounds_up() -> None:
    assert pool_half(torch.zeros(2, 27, 27, 3)).shape == (2, 14, 14, 3)


def test_tiles_join_row_by_row() -> None:
    tiles = torch.stack([torch.full((2, 2, 1), float(index)) for index in range(6)])
    joined = join_tiles(tiles, (3, 2))[..., 0]
    assert joined.tolist() == [[0, 0, 1, 1, 2, 2]] * 2 + [[3, 3, 4, 4, 5, 5]] * 2
