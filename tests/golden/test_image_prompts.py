"""Images end to end: file to prompt to embeddings to the first forward, with whole models, against the references."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from seer_core.families.registry import load_model, load_processor
from seer_core.models.multimodal import MultimodalModel
from seer_core.models.vlm import VisionLanguageModel
from seer_core.prompt import EncodedPrompt, ImageViews
from seer_core.types import Message
from tests.golden.conftest import CASES, load_case, load_numbers
from tests.golden.first_forward import check_first_forward
from tests.golden.vision import image_cases, image_of, prompt_of

FAMILIES = ("llada_v", "lavida_llada", "lavida_dream", "dimple")
CASE_NAMES = [(family, name) for family in FAMILIES for name in image_cases(family)]
TILED = [(family, name) for family, name in CASE_NAMES if "pixels_every32" in load_numbers(family, name)]

ModelOf = Callable[[str], MultimodalModel]


@pytest.fixture(scope="module")
def model_of(golden_checkpoint: Callable[[str], Path]) -> ModelOf:
    return cache(lambda family: load_model(golden_checkpoint(family)))


def encoded(family: str, case: dict[str, Any], folder: Path, model_of: ModelOf) -> EncodedPrompt:
    return model_of(family).encode(prompt_of(case, folder))


@pytest.mark.parametrize(("family", "name"), CASE_NAMES)
def test_the_first_forward_over_an_image_is_the_references(
    family: str, name: str, golden_checkpoint: Callable[[str], Path], model_of: ModelOf
) -> None:
    case = load_case(family, name)
    prompt = encoded(family, case, golden_checkpoint(family), model_of)
    assert prompt.length_tokens == case["prompt_length"]
    check_first_forward(model_of(family).decoder, case, load_numbers(family, name), prompt.embeddings[None])


@pytest.mark.parametrize(("family", "name"), CASE_NAMES)
def test_prompt_and_canvas_stand_where_the_reference_puts_them(
    family: str, name: str, golden_checkpoint: Callable[[str], Path], model_of: ModelOf
) -> None:
    case, numbers = load_case(family, name), load_numbers(family, name)
    prompt = encoded(family, case, golden_checkpoint(family), model_of)
    length, wanted = case["prompt_length"], numbers.get("position_ids")
    if wanted is None:
        assert (prompt.positions, prompt.next_position) == (None, length)
        return
    assert prompt.positions is not None
    assert torch.equal(prompt.positions, wanted[:, 0, :length])
    canvas = torch.arange(case["settings"]["gen_length"]) + prompt.next_position
    assert torch.equal(canvas.expand(3, -1), wanted[:, 0, length:])


@pytest.mark.parametrize(("family", "name"), TILED)
def test_pixels_tower_and_projector_are_the_references(
    family: str, name: str, golden_checkpoint: Callable[[str], Path], model_of: ModelOf
) -> None:
    numbers, model = load_numbers(family, name), model_of(family)
    views = image_of(load_case(family, name)["image"]["file"], golden_checkpoint(family))
    assert isinstance(views, ImageViews)
    assert isinstance(model, VisionLanguageModel)
    np.testing.assert_allclose(views.pixels[..., ::32, ::32], numbers["pixels_every32"], atol=1e-6)
    with torch.inference_mode():
        features = model.tower(torch.from_numpy(views.pixels))
        projected = model.projector(features)
    torch.testing.assert_close(features[:, ::97], numbers["vision_every97"], atol=3e-4, rtol=1e-5)
    torch.testing.assert_close(projected[:, ::97], numbers["projector_every97"], atol=3e-4, rtol=1e-5)


@pytest.mark.parametrize("family", FAMILIES)
def test_several_images_of_any_kind_fill_the_places_they_are_counted_for(
    family: str, golden_checkpoint: Callable[[str], Path], model_of: ModelOf
) -> None:
    files = ("gray_160x120", "rgba_210x140", "palette_128x200")
    images = tuple((CASES / "images" / f"{file}.png").read_bytes() for file in files)
    messages = [
        Message(role="user", text="Compare.", images=images[:2]),
        Message(role="assistant", text="Done."),
        Message(role="user", text="And this?", images=images[2:]),
    ]
    prompt = load_processor(golden_checkpoint(family)).prepare(messages)
    assert [image.size_px for image in prompt.images] == [(160, 120), (210, 140), (128, 200)]
    together = model_of(family).encode(prompt)
    assert together.length_tokens == prompt.length_tokens
    assert together.embeddings.isfinite().all()
