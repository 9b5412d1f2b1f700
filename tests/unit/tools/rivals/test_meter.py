from __future__ import annotations

import pytest
import torch

from seer_core.tools.rivals.meter import metered
from tests.unit.probe.tiny import tiny_decoder


def test_layers_count_as_their_share_of_a_position_and_the_head_apart() -> None:
    decoder = tiny_decoder(layers=3)
    hidden, positions = torch.randn(2, 6, 32), torch.arange(6).expand(2, -1)
    with torch.no_grad(), metered(decoder) as meter:
        decoder.run(hidden, positions, layers=range(1))
        assert meter.positions == 4.0
        decoder.logits(decoder.run(hidden, positions)[:, :2])
        assert (meter.positions, meter.head_positions) == (16.0, 4)


def test_nothing_is_counted_afterwards() -> None:
    decoder = tiny_decoder()
    with metered(decoder) as meter:
        pass
    with torch.no_grad():
        decoder.run(torch.randn(1, 2, 32), torch.arange(2)[None])
    assert meter.positions == 0


def test_a_part_of_a_layer_counts_as_its_share_of_the_weights() -> None:
    decoder = tiny_decoder(layers=3)
    with torch.no_grad(), metered(decoder) as meter:
        decoder.mlp_input(0, torch.randn(1, 6, 32), torch.arange(6)[None])
    attention, mlp = 32 * 32 + 2 * 16 * 32 + 32 * 32, 3 * 32 * 48
    assert meter.positions == pytest.approx(6 * attention / (attention + mlp) / 3)
