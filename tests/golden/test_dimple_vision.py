"""Dimple's images against the reference: sizes, patches, tower, projector, merged embeddings and positions."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image

from seer_core.errors import BadImage
from seer_core.models.native_vlm import NativeResolutionModel
from seer_core.models.vision.qwen_vit import QwenVit
from seer_core.preprocess.image import ImageLimits, decode_image
from seer_core.preprocess.patches import Patching, cut_patches, patched_size, read_patching
from seer_core.prompt import ImagePatches
from tests.golden.conftest import CASES, load_case, load_numbers
from tests.golden.vision import assert_embeddings, bare_decoder, fill, image_cases, prompt_of

FAMILY = "dimple"
NAMES = image_cases(FAMILY)
RECORDED = json.loads((CASES / FAMILY / "preprocess.json").read_text())

PLACES = (
    (r"visual\.(.+)", r"tower.visual.\1"),
    (r"img_projector\.(.+)", r"projector.\1"),
    (r"model\.embed_tokens\.weight", "decoder.embedding.weight"),
    (r"model\.norm\.weight", "decoder.norm.weight"),
    (r"lm_head\.weight", "decoder.head.weight"),
)


@pytest.fixture(scope="module")
def fields(golden_checkpoint: Callable[[str], Path]) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((golden_checkpoint(FAMILY) / "config.json").read_text())
    return found


@pytest.fixture(scope="module")
def rule(golden_checkpoint: Callable[[str], Path]) -> Patching:
    return read_patching(json.loads((golden_checkpoint(FAMILY) / "preprocessor_config.json").read_text()))


@pytest.fixture(scope="module")
def model(golden_checkpoint: Callable[[str], Path], fields: dict[str, Any]) -> NativeResolutionModel:
    decoder = bare_decoder(fields["hidden_size"], fields["vocab_size"])
    built = NativeResolutionModel(decoder, QwenVit(fields["vision_config"]), fields["image_token_id"])
    fill(built, golden_checkpoint(FAMILY), PLACES)
    return built


@cache
def patches_of(file: str, rule: Patching) -> ImagePatches:
    return cut_patches(decode_image((CASES / file).read_bytes(), ImageLimits()), rule)


def one_placeholder_an_image(ids: list[int], placeholder_id: int) -> list[int]:
    return [token for key, run in groupby(ids) for token in ([key] if key == placeholder_id else run)]


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


@pytest.mark.parametrize("name", NAMES)
def test_prompt_embeddings_and_positions_are_the_references(
    name: str, model: NativeResolutionModel, rule: Patching
) -> None:
    case, numbers = load_case(FAMILY, name), load_numbers(FAMILY, name)
    ids = one_placeholder_an_image(case["prompt_ids"], model.placeholder_id)
    encoded = model.encode(prompt_of(case, [patches_of(case["image"]["file"], rule)], ids))
    assert encoded.length_tokens == case["prompt_length"]
    assert_embeddings(encoded.embeddings, numbers)
    wanted, prompt = numbers["position_ids"][:, 0], case["prompt_length"]
    assert encoded.positions is not None
    assert torch.equal(encoded.positions, wanted[:, :prompt])
    canvas = torch.arange(wanted.shape[1] - prompt) + encoded.next_position
    assert torch.equal(canvas.expand(3, -1), wanted[:, prompt:])
