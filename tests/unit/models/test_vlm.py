"""Pooling, joining and shrinking tiles, and what surrounds them in a prompt."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from seer_core.models.vision.siglip import SiglipTower
from seer_core.models.vlm import VisionLanguageModel, join_tiles, pool_half, resize_map
from seer_core.prompt import ImageViews
from tests.unit.probe.tiny import tiny_decoder

TOWER: dict[str, Any] = {
    "hidden_size": 8,
    "intermediate_size": 16,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "num_channels": 3,
    "image_size": 56,
    "patch_size": 14,
    "hidden_act": "gelu_pytorch_tanh",
}


def views(grid: tuple[int, int], map_size: tuple[int, int]) -> ImageViews:
    count = 1 + grid[0] * grid[1]
    pixels = np.zeros((count, 3, 56, 56), dtype=np.float32)
    return ImageViews(pixels=pixels, size_px=(1, 1), grid=grid, margin=(0, 0), map_size=map_size, tokens=0)


@pytest.fixture(scope="module")
def model() -> VisionLanguageModel:
    torch.manual_seed(0)
    built = VisionLanguageModel(tiny_decoder(layers=0), SiglipTower(TOWER), -200, pooled=False).eval()
    return built.requires_grad_(False)


def test_pooling_an_even_side_averages_two_by_two() -> None:
    features = torch.arange(16.0).reshape(1, 4, 4, 1)
    assert pool_half(features).flatten().tolist() == [2.5, 4.5, 10.5, 12.5]


def test_pooling_an_odd_side_rounds_up() -> None:
    assert pool_half(torch.zeros(2, 27, 27, 3)).shape == (2, 14, 14, 3)


def test_a_map_is_shrunk_by_averaging_neighbours() -> None:
    features = torch.arange(8.0).reshape(2, 4, 1)
    assert resize_map(features, (1, 2)).flatten().tolist() == [2.5, 4.5]


def test_tiles_join_row_by_row() -> None:
    tiles = torch.stack([torch.full((2, 2, 1), float(index)) for index in range(6)])
    joined = join_tiles(tiles, (3, 2))[..., 0]
    assert joined.tolist() == [[0, 0, 1, 1, 2, 2]] * 2 + [[3, 3, 4, 4, 5, 5]] * 2


def test_a_shrunk_map_has_a_newline_after_each_of_its_rows(model: VisionLanguageModel) -> None:
    image = views((2, 2), (5, 3))
    merged = model.merge(torch.ones(5, 4, 4, 32), image)
    assert len(merged) == 16 + 3 * (5 + 1)
    newlines = [row for row in range(16, len(merged)) if torch.equal(merged[row], model.newline)]
    assert newlines == [21, 27, 33]


def test_a_view_without_tiles_ends_with_one_newline(model: VisionLanguageModel) -> None:
    merged = model.merge(torch.ones(1, 4, 4, 32), views((0, 0), (0, 0)))
    assert len(merged) == 16 + 1
    assert torch.equal(merged[-1], model.newline)


def test_several_images_are_encoded_as_each_is_alone(model: VisionLanguageModel) -> None:
    one, two = views((0, 0), (0, 0)), views((2, 1), (8, 4))
    with torch.inference_mode():
        together = model.image_tokens([one, two])
        alone = [*model.image_tokens([one]), *model.image_tokens([two])]
    for have, want in zip(together, alone, strict=True):
        torch.testing.assert_close(have, want)
