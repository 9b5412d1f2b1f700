"""The Qwen2.5-VL tower at a size for tests."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from seer_core.models.vision.qwen_vit import QwenVit

FIELDS: dict[str, Any] = {
    "depth": 2,
    "hidden_size": 16,
    "hidden_act": "silu",
    "intermediate_size": 24,
    "num_heads": 2,
    "in_channels": 3,
    "out_hidden_size": 20,
    "patch_size": 14,
    "spatial_merge_size": 2,
    "temporal_patch_size": 2,
    "window_size": 56,
    "fullatt_block_indexes": [1],
    "model_type": "another",
    "a_field_of_another_tower": 3,
}


@pytest.fixture(scope="module")
def tower() -> QwenVit:
    torch.manual_seed(0)
    return QwenVit(FIELDS).eval().requires_grad_(False)


def patches(columns: int, rows: int) -> torch.Tensor:
    return torch.randn(columns * rows, 3 * 2 * 14 * 14, generator=torch.Generator().manual_seed(columns))


def test_four_patches_become_one_token(tower: QwenVit) -> None:
    assert tower(patches(6, 4), [(6, 4)]).shape == (6, 20)


def test_images_in_one_pass_do_not_see_each_other(tower: QwenVit) -> None:
    first, second = patches(6, 4), patches(2, 10)
    together = tower(torch.cat((first, second)), [(6, 4), (2, 10)])
    alone = torch.cat((tower(first, [(6, 4)]), tower(second, [(2, 10)])))
    torch.testing.assert_close(together, alone)


def test_columns_and_rows_are_not_interchangeable(tower: QwenVit) -> None:
    image = patches(6, 4)
    assert not torch.allclose(tower(image, [(6, 4)]), tower(image, [(4, 6)]))


def test_outside_the_blocks_of_full_attention_a_token_is_seen_in_its_window_alone() -> None:
    torch.manual_seed(0)
    windowed = QwenVit({**FIELDS, "fullatt_block_indexes": []}).eval().requires_grad_(False)
    image = patches(8, 4)  # 4 x 2 tokens, windows of 2 x 2
    changed = image.clone()
    changed[-4:] += 1
    before, after = windowed(image, [(8, 4)]), windowed(changed, [(8, 4)])
    assert (before != after).any(-1).nonzero().flatten().tolist() == [2, 3, 6, 7]
