"""The network against LaViDa's own: pixels, prompt embeddings, every layer's stream and activations, logits."""

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
from torch import Tensor

from seer_core.families.registry import inspect, load_decoder, load_model
from seer_core.layers.attention import Behind, Remembering
from seer_core.models.vlm import VisionLanguageModel
from seer_core.preprocess.image import ImageLimits, Tiling, cut_views, decode_image
from seer_core.prompt import ImageViews, Prompt
from tests.golden.conftest import CASES, case_names, load_case, load_numbers

FAMILY = "lavida_llada"
NAMES = case_names(FAMILY)


@pytest.fixture(scope="module")
def checkpoint(golden_checkpoint: Callable[[str], Path]) -> Path:
    return golden_checkpoint(FAMILY)


@pytest.fixture(scope="module")
def model(checkpoint: Path) -> VisionLanguageModel:
    loaded = load_model(checkpoint)
    assert isinstance(loaded, VisionLanguageModel)
    return loaded


@pytest.fixture(scope="module")
def tiling(checkpoint: Path) -> Tiling:
    rule = inspect(checkpoint).image_rule
    assert isinstance(rule, Tiling)
    return rule


@cache
def views_of(file: str, tiling: Tiling) -> ImageViews:
    return cut_views(decode_image((CASES / file).read_bytes(), ImageLimits()), tiling)


def prompt_of(case: dict[str, Any], tiling: Tiling) -> Prompt:
    images = () if case["image"] is None else (views_of(case["image"]["file"], tiling),)
    return Prompt(ids=np.array(case["prompt_ids"]), images=images, length_tokens=case["prompt_length"])


def first_forward(model: VisionLanguageModel, case: dict[str, Any], embeddings: Tensor) -> dict[str, Tensor]:
    """Rows of the canvas at step 0, by name: the layers' streams and products, and the logits."""
    prompt, canvas = len(embeddings), case["settings"]["gen_length"]
    masks = model.decoder.embed(torch.full((1, canvas), case["ids"]["mask"]))
    seen: dict[str, Tensor] = {"hidden.embeddings": masks[0]}

    def observe(layer: int, name: str, value: Tensor) -> None:
        seen[f"{name}.{layer}"] = value[0, -canvas:]

    positions = torch.arange(prompt + canvas)[None]
    with torch.inference_mode():
        if case["settings"]["prefix_lm"]:
            prompt_keys = Remembering()
            model.decoder.run(embeddings[None], positions[:, :prompt], attend=prompt_keys)
            out = model.decoder.run(masks, positions[:, prompt:], attend=Behind(prompt_keys.kept), observe=observe)
        else:
            out = model.decoder.run(torch.cat((embeddings[None], masks), 1), positions, observe=observe)
        seen["hidden.norm"] = model.decoder.norm(out)[0, -canvas:]
        seen["logits"] = model.decoder.logits(out)[0, -canvas:]
    return seen


@pytest.mark.parametrize("name", NAMES)
def test_prompt_embeddings_are_the_references(name: str, model: VisionLanguageModel, tiling: Tiling) -> None:
    case, numbers = load_case(FAMILY, name), load_numbers(FAMILY, name)
    embeddings = model.encode(prompt_of(case, tiling)).embeddings
    assert len(embeddings) == case["prompt_length"]
    torch.testing.assert_close(embeddings[:8], numbers["embeds_first8"][0], atol=3e-4, rtol=1e-5)
    torch.testing.assert_close(embeddings[-8:], numbers["embeds_last8"][0], atol=3e-4, rtol=1e-5)
    sums = embeddings.double().sum(-1)
    torch.testing.assert_close(sums, numbers["embeds_row_sum"][0].double(), atol=5e-3, rtol=0)


@pytest.mark.parametrize("name", NAMES)
def test_every_layer_and_the_logits_are_the_references(name: str, model: VisionLanguageModel, tiling: Tiling) -> None:
    case, numbers = load_case(FAMILY, name), load_numbers(FAMILY, name)
    seen = first_forward(model, case, model.encode(prompt_of(case, tiling)).embeddings)
    streams = [seen["hidden.embeddings"], *(seen[f"hidden.{layer}"] for layer in range(4)), seen["hidden.norm"]]
    for have, want in zip(streams, numbers["hidden"][0], strict=True):
        torch.testing.assert_close(have, want, atol=2e-3, rtol=1e-4)
    for layer in range(4):
        want = numbers[f"mlp_product.{layer}"][0]
        torch.testing.assert_close(seen[f"product.{layer}"], want, atol=2e-3, rtol=1e-4)
    columns = numbers["logit_columns"].long()
    torch.testing.assert_close(seen["logits"][:, columns], numbers["logits"][0], atol=1e-3, rtol=1e-4)
    assert torch.equal(seen["logits"].argmax(-1), numbers["argmax"][0].long())


@pytest.mark.parametrize("name", [name for name in NAMES if name.startswith("image")])
def test_tower_and_projector_are_the_references(name: str, model: VisionLanguageModel, tiling: Tiling) -> None:
    numbers = load_numbers(FAMILY, name)
    views = views_of(load_case(FAMILY, name)["image"]["file"], tiling)
    with torch.inference_mode():
        features = model.tower(torch.from_numpy(views.pixels))
        projected = model.projector(features)
    torch.testing.assert_close(features[:, ::97], numbers["vision_every97"], atol=3e-4, rtol=1e-5)
    torch.testing.assert_close(projected[:, ::97], numbers["projector_every97"], atol=3e-4, rtol=1e-5)


def test_a_decoder_loaded_alone_is_the_models_decoder(checkpoint: Path, model: VisionLanguageModel) -> None:
    alone = load_decoder(checkpoint).state_dict()
    whole = model.decoder.state_dict()
    assert alone.keys() == whole.keys()
    assert all(torch.equal(alone[name], whole[name]) for name in alone)


@pytest.mark.parametrize("row", json.loads((CASES / FAMILY / "preprocess.json").read_text())["sizes"])
def test_image_sizes_give_the_references_tiles_and_tokens(row: dict[str, Any], tiling: Tiling) -> None:
    views = cut_views(Image.new("RGB", tuple(row["size"])), tiling)
    assert (list(views.grid), len(views.pixels), views.tokens) == (row["grid"], row["tiles"], row["image_tokens"])


@pytest.mark.parametrize("row", json.loads((CASES / FAMILY / "preprocess.json").read_text())["images"])
def test_every_image_mode_gives_the_references_pixels(row: dict[str, Any], tiling: Tiling) -> None:
    views = views_of(row["file"], tiling)
    assert (list(views.grid), views.tokens) == (row["grid"], row["image_tokens"])
    numbers = load_numbers(FAMILY, "preprocess")
    wanted = numbers[f"{Path(row['file']).stem}.pixels_every32"]
    np.testing.assert_allclose(views.pixels[..., ::32, ::32], wanted.numpy(), atol=1e-6)
