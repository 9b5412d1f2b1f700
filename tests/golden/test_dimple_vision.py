"""Dimple's images against the reference: sizes, patches, tower and projector."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image

from seer_core.errors import BadImage
from seer_core.families.registry import inspect, load_model
from seer_core.models.native_vlm import NativeResolutionModel
from seer_core.preprocess.image import ImageLimits, decode_image
from seer_core.preprocess.patches import Patching, cut_patches, patched_size
from seer_core.prompt import ImagePatches
from tests.golden.conftest import CASES, load_case, load_numbers
from tests.golden.vision import image_cases

FAMILY = "dimple"
NAMES = image_cases(FAMILY)
RECORDED = json.loads((CASES / FAMILY / "preprocess.json").read_text())


@pytest.fixture(scope="module")
def rule(golden_checkpoint: Callable[[str], Path]) -> Patching:
    found = inspect(golden_checkpoint(FAMILY)).image_rule
    assert isinstance(found, Patching)
    return found


@pytest.fixture(scope="module")
def model(golden_checkpoint: Callable[[str], Path]) -> NativeResolutionModel:
    loaded = load_model(golden_checkpoint(FAMILY))
    assert isinstance(loaded, NativeResolutionModel)
    return loaded


@cache
def patches_of(file: str, rule: Patching) -> ImagePatches:
    return cut_patches(decode_image((CASES / file).read_bytes(), ImageLimits()), rule)


@pytest.mark.parametrize("row", RECORDED["sizes"], ids=lambda row: "x".join(map(str, row["size"])))
def test_image_sizes_give_the_references_grids_and_tokens(row: dict[str, Any], rule: Patching) -> None:
    assert list(patched_size(tuple(row["size"]), rule)) == row["resized"]
    image = cut_patches(Image.new("RGB", tuple(row["size"])), rule)
    assert [1, image.grid[1], image.grid[0]] == row["grid_thw"]
    assert (image.tokens, len(image.patches)) == (row["image_tokens"], 4 * row["image_tokens"])


@pytest.mark.parametrize("row", RECORDED["images"], ids=lambda row: Path(row["file"]).stem)
def test_every_image_mode_gives_the_references_patches(row: dict[str, Any], rule: Patching) -> None:
    if "error" in row:
        with pytest.raises(BadImage, match="at least 28"):
            patches_of(row["file"], rule)
        return
    image = patches_of(row["file"], rule)
    assert ([1, image.grid[1], image.grid[0]], image.tokens) == (row["grid_thw"], row["image_tokens"])
    numbers, stem = load_numbers(FAMILY, "preprocess"), Path(row["file"]).stem
    np.testing.assert_allclose(image.patches[::211], numbers[f"{stem}.every211"], atol=1e-6)
    np.testing.assert_allclose(image.patches.sum(-1, dtype=np.float64), numbers[f"{stem}.row_sum"], atol=1e-3)
    np.testing.assert_allclose(np.abs(image.patches).max(-1), numbers[f"{stem}.row_absmax"], atol=1e-6)


@pytest.mark.parametrize("name", NAMES)
def test_tower_and_projector_are_the_references(name: str, model: NativeResolutionModel, rule: Patching) -> None:
    numbers = load_numbers(FAMILY, name)
    image = patches_of(load_case(FAMILY, name)["image"]["file"], rule)
    np.testing.assert_allclose(image.patches[::37], numbers["pixel_values_every37"], atol=1e-6)
    with torch.inference_mode():
        merged = model.tower(torch.from_numpy(image.patches), [image.grid])
        projected = model.projector(merged)
    torch.testing.assert_close(merged[::13], numbers["vision_every13"], atol=3e-4, rtol=1e-5)
    torch.testing.assert_close(projected[::13], numbers["projector_every13"], atol=3e-4, rtol=1e-5)
