"""Rotary positions: the textbook form, angle by angle."""

from __future__ import annotations

import math

import torch

from seer_core.layers.rotary import rotate, rotation

SECTIONS = (slice(0, 2), slice(2, 5), slice(5, 8))


def test_each_pair_turns_by_position_times_its_frequency() -> None:
    x = torch.tensor([1.0, 0.0, 0.0, 2.0]).reshape(1, 1, 1, 4)
    turned = rotate(x, rotation(torch.tensor([[3]]), 4, 100.0)).flatten()
    slow = 3 * 100.0**-0.5
    wanted = [math.cos(3), -2 * math.sin(slow), math.sin(3), 2 * math.cos(slow)]
    torch.testing.assert_close(turned, torch.tensor(wanted))


def test_half_precision_is_turned_in_full_precision() -> None:
    x = torch.randn(1, 2, 5, 8).bfloat16()
    turn = rotation(torch.arange(1000, 1005)[None], 8, 10000.0)
    assert torch.equal(rotate(x, turn), rotate(x.float(), turn).bfloat16())


def test_positions_in_three_equal_rows_turn_as_one_row_does() -> None:
    positions = torch.arange(5)[None]
    plain = rotation(positions, 16, 1e6)
    rows = rotation(positions.expand(3, 1, 5), 16, 1e6, sections=(2, 3, 3))
    assert torch.equal(plain.cos, rows.cos)
    assert torch.equal(plain.sin, rows.sin)


def test_each_section_of_the_frequencies_turns_by_its_own_row() -> None:
    positions = torch.stack([torch.full((1, 2), row) for row in (1, 2, 3)])
    cos = rotation(positions, 16, 1e4, sections=(2, 3, 3)).cos[0, 0, 0]
    want = torch.cat([rotation(positions[row], 16, 1e4).cos[0, 0, 0, part] for row, part in enumerate(SECTIONS)])
    assert torch.equal(cos[:8], want)
    assert torch.equal(cos[8:], cos[:8])


def test_a_rotation_in_a_narrow_dtype_turns_in_that_dtype() -> None:
    x = torch.randn(1, 1, 3, 16, generator=torch.Generator().manual_seed(0)).half()
    by = rotation(torch.arange(3)[None], 16, 1e4, dtype=torch.float16)
    first, second = x.chunk(2, dim=-1)
    assert torch.equal(rotate(x, by), x * by.cos + torch.cat((-second, first), -1) * by.sin)
