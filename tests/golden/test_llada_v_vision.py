"""LLaDA-V's images against the reference: tiles, token counts, pixels, tower, projector and merged embeddings."""

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

from seer_core.models.vision.siglip import SiglipTower
from seer_core.models.vlm import VisionLanguageModel
from seer_core.preprocess.image import ImageLimits, Tiling, cut_views, decode_image
from seer_core.preprocess.tiling import read_tiling
from seer_core.prompt import ImageViews
from tests.golden.conftest import CASES, load_case, load_numbers
from tests.golden.vision import assert_embeddings, bare_decoder, fill, image_cases, prompt_of

FAMILY = "llada_v"
NAMES = image_cases(FAMILY)
RECORDED = json.loads((CASES / FAMILY / "preprocess.json").read_text())
PLACEHOLDER = -200

PLACES = (
    (r"model\.vision_tower\.vision_tower\.(.+)", r"tower.\1"),
    (r"model\.mm_projector\.(.+)", r"projector.\1"),
    (r"model\.image_newline", "newline"),
    (r"model\.embed_tokens\.weight", "decoder.embedding.weight"),
    (r"model\.norm\.weight", "decoder.norm.weight"),
    (r"lm_head\.weight", "decoder.head.weight"),
)


@pytest.fixture(scope="module")
def fields(golden_checkpoint: Callable[[str], Path]) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((golden_checkpoint(FAMILY) / "config.json").read_text())
    return found


@pytest.fixture(scope="module")
def vision(golden_checkpoint: Callable[[str], Path], fields: dict[str, Any]) -> dict[str, Any]:
    text = (golden_checkpoint(FAMILY) / fields["mm_vision_tower"] / "config.json").read_text()
    return {name: value for name, value in json.loads(text)["vision_config"].items() if name != "model_type"}


@pytest.fixture(scope="module")
def tiling(fields: dict[str, Any], vision: dict[str, Any]) -> Tiling:
    return read_tiling(fields, vision, pooled=False)


@pytest.fixture(scope="module")
def model(
    golden_checkpoint: Callable[[str], Path], fields: dict[str, Any], vision: dict[str, Any]
) -> VisionLanguageModel:
    decoder = bare_decoder(fields["hidden_size"], fields["vocab_size"])
    built = VisionLanguageModel(decoder, SiglipTower(vision), PLACEHOLDER, pooled=False)
    fill(built, golden_checkpoint(FAMILY), PLACES)
    return built


@cache
def views_of(file: str, tiling: Tiling) -> ImageViews:
    return cut_views(decode_image((CASES / file).read_bytes(), ImageLimits()), tiling)


def facts(views: ImageViews) -> dict[str, Any]:
    columns, rows = views.map_size
    return {
        "size": list(views.size_px),
        "grid": list(views.grid),
        "tiles": len(views.pixels),
        "rows": rows,
        "columns": columns,
        "image_tokens": views.tokens,
    }


@pytest.mark.parametrize("row", RECORDED["sizes"], ids=lambda row: "x".join(map(str, row["size"])))
def test_image_sizes_give_the_references_tiles_and_tokens(row: dict[str, Any], tiling: Tiling) -> None:
    assert facts(cut_views(Image.new("RGB", tuple(row["size"])), tiling)) == row


@pytest.mark.parametrize("row", RECORDED["images"], ids=lambda row: Path(row["file"]).stem)
def test_every_image_mode_gives_the_references_pixels(row: dict[str, Any], tiling: Tiling) -> None:
    views = views_of(row["file"], tiling)
    assert {**facts(views), "file": row["file"], "mode": row["mode"]} == row
    numbers, stem = load_numbers(FAMILY, "preprocess"), Path(row["file"]).stem
    np.testing.assert_allclose(views.pixels[..., ::32, ::32], numbers[f"{stem}.pixels_every32"], atol=1e-6)
    np.testing.assert_allclose(views.pixels.sum((-1, -2), dtype=np.float64), numbers[f"{stem}.pixels_sum"], atol=0.05)
    np.testing.assert_allclose(np.abs(views.pixels).max((-1, -2)), numbers[f"{stem}.pixels_absmax"], atol=1e-6)


@pytest.mark.parametrize("name", NAMES)
def test_tower_and_projector_are_the_references(name: str, model: VisionLanguageModel, tiling: Tiling) -> None:
    numbers = load_numbers(FAMILY, name)
    views = views_of(load_case(FAMILY, name)["image"]["file"], tiling)
    with torch.inference_mode():
        features = model.tower(torch.from_numpy(views.pixels))
        projected = model.projector(features)
    torch.testing.assert_close(features[:, ::97], numbers["vision_every97"], atol=3e-4, rtol=1e-5)
    torch.testing.assert_close(projected[:, ::97], numbers["projector_every97"], atol=3e-4, rtol=1e-5)


@pytest.mark.parametrize("name", NAMES)
def test_prompt_embeddings_are_the_references(name: str, model: VisionLanguageModel, tiling: Tiling) -> None:
    case = load_case(FAMILY, name)
    encoded = model.encode(prompt_of(case, [views_of(case["image"]["file"], tiling)], case["prompt_ids"]))
    assert encoded.length_tokens == encoded.next_position == case["prompt_length"]
    assert_embeddings(encoded.embeddings, load_numbers(FAMILY, name))
