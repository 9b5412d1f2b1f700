"""A model that takes images at their own resolution, at a size for tests."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from seer_core.models.native_vlm import NativeResolutionModel
from seer_core.models.vision.qwen_vit import QwenVit
from seer_core.prompt import ImagePatches, Prompt
from tests.unit.models.vision.test_qwen_vit import FIELDS
from tests.unit.probe.tiny import tiny_decoder

IMAGE = 9


@pytest.fixture(scope="module")
def model() -> NativeResolutionModel:
    torch.manual_seed(0)
    return NativeResolutionModel(tiny_decoder(layers=0), QwenVit(FIELDS), IMAGE).eval().requires_grad_(False)


def image(columns: int, rows: int) -> ImagePatches:
    patches = np.random.default_rng(columns).standard_normal((columns * rows, 3 * 2 * 14 * 14), dtype=np.float32)
    grid = columns // 2, rows // 2
    return ImagePatches(patches=patches, size_px=(14 * columns, 14 * rows), grid=(columns, rows), token_grid=grid)


def test_several_images_land_in_their_places(model: NativeResolutionModel) -> None:
    first, second = image(4, 2), image(2, 6)
    prompt = Prompt(ids=np.array([1, IMAGE, 2, IMAGE, 3]), images=(first, second), length_tokens=8)
    encoded = model.encode(prompt)
    assert encoded.length_tokens == 8
    with torch.inference_mode():
        (alone,) = model.image_tokens([second])
    torch.testing.assert_close(encoded.embeddings[4:7], alone)
    assert encoded.positions is not None
    assert encoded.positions.shape == (3, 8)
    assert encoded.next_position == 1 + 2 + 1 + 3 + 1


def test_text_alone_has_positions_too(model: NativeResolutionModel) -> None:
    encoded = model.encode(Prompt(ids=np.array([1, 2]), images=(), length_tokens=2))
    assert encoded.positions is not None
    assert encoded.positions.tolist() == [[0, 1]] * 3


def test_arrays_that_may_not_be_written_are_read(model: NativeResolutionModel) -> None:
    frozen = image(2, 2)
    frozen.patches.flags.writeable = False
    assert model.encode(Prompt(ids=np.array([IMAGE]), images=(frozen,), length_tokens=1)).length_tokens == 1
