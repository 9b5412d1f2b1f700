"""Rotary positions: the textbook form, angle by angle."""

from __future__ import annotations

import math

import torch

from seer_core.layers.rotary import rotate, rotation


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
