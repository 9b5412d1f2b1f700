"""MMaDA's images against the reference: framed pixels, every level of the encoder, the codes, and the prompt."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from seer_core.errors import InvalidRequest
from seer_core.families.registry import inspect, load_model, load_processor
from seer_core.models.code_vlm import CodeModel
from seer_core.models.multimodal import MultimodalModel
from seer_core.models.vision.magvit import MagvitEncoder, quantise
from seer_core.preprocess.frame import Framing, frame_image
from seer_core.preprocess.image import ImageLimits, decode_image
from seer_core.prompt import ImageFrame
from seer_core.types import Message
from tests.golden.conftest import CASES, case_names, load_case, load_numbers

FAMILY = "mmada_magvit"
NAMES_OF_CASES = case_names(FAMILY)
CheckpointOf = Callable[[str], Path]


@pytest.fixture(scope="module")
def model(coded_checkpoint: CheckpointOf) -> CodeModel:
    loaded = load_model(coded_checkpoint("squash"))
    assert isinstance(loaded, CodeModel)
    return loaded


@pytest.fixture(scope="module")
def tower(model: CodeModel) -> MagvitEncoder:
    return model.tower


def framed(case: dict[str, Any]) -> ImageFrame:
    settings = case["settings"]
    rule = Framing(side_px=settings["resolution"], fit=settings["mode"])
    return frame_image(decode_image((CASES / case["image"]["file"]).read_bytes(), ImageLimits()), rule)


def watch(tower: MagvitEncoder) -> tuple[dict[str, Tensor], list[Any]]:
    """What each level and the middle attention put out, once the encoder runs."""
    seen: dict[str, Tensor] = {}

    def keep(name: str) -> Callable[[nn.Module, Any, Tensor], None]:
        return lambda module, args, out: seen.__setitem__(name, out)

    last_blocks = {f"level.{index}": tower.get_submodule(f"down.{index}.block")[-1] for index in range(5)}  # type: ignore[index]
    modules = {**last_blocks, "mid_attn": tower.mid.attn_1}
    return seen, [module.register_forward_hook(keep(name)) for name, module in modules.items()]


@pytest.mark.parametrize("name", NAMES_OF_CASES)
def test_pixels_are_the_references(name: str) -> None:
    case, numbers = load_case(FAMILY, name), load_numbers(FAMILY, name)
    image = framed(case)
    assert image.tokens == len(case["expected"]["codes"])
    np.testing.assert_allclose(image.pixels[None, ..., ::32, ::32], numbers["pixels_every32"], atol=1e-6)
    np.testing.assert_allclose(image.pixels.sum((-1, -2), dtype=np.float64)[None], numbers["pixels_sum"], atol=0.05)
    np.testing.assert_allclose(np.abs(image.pixels).max((-1, -2))[None], numbers["pixels_absmax"], atol=1e-6)


@pytest.mark.parametrize("name", NAMES_OF_CASES)
def test_every_level_and_the_codes_are_the_references(name: str, tower: MagvitEncoder) -> None:
    case, numbers = load_case(FAMILY, name), load_numbers(FAMILY, name)
    seen, hooks = watch(tower)
    with torch.inference_mode():
        features = tower(torch.from_numpy(framed(case).pixels)[None])
    for hook in hooks:
        hook.remove()
    for place, value in seen.items():
        stride = 4 if place == "mid_attn" else 16
        wanted = numbers[f"{place}.every{stride}"]
        torch.testing.assert_close(value[..., ::stride, ::stride], wanted, atol=5e-3, rtol=0)
    torch.testing.assert_close(features, numbers["z"], atol=2e-4, rtol=0)
    assert list(features.shape[-2:]) == case["expected"]["grid"]
    codes = quantise(features).flatten()
    sure = (numbers["z"][0].abs() > 1e-3).all(0).flatten()
    assert sure.float().mean() > 0.9
    assert torch.equal(codes[sure], torch.tensor(case["expected"]["codes"])[sure])


def test_an_image_of_a_request_stands_in_the_prompt_as_tokens(model: CodeModel, coded_checkpoint: CheckpointOf) -> None:
    case = load_case(FAMILY, "squash_512")
    picture = (CASES / case["image"]["file"]).read_bytes()
    prompt = load_processor(coded_checkpoint("squash")).prepare([Message(role="user", text="hi", images=(picture,))])
    encoded = model.encode(prompt)
    assert encoded.length_tokens == prompt.length_tokens
    first, codes = case["expected"]["id_offset_in_language_model"], case["expected"]["codes"]
    spelled = [i for token in prompt.ids.tolist() for i in ([first + c for c in codes] if token == -200 else [token])]
    assert spelled[:2] == [126089, 126084]
    assert spelled[2 + len(codes)] == 126085
    wanted = model.decoder.embed(torch.tensor(spelled)[None])[0]
    sure = (load_numbers(FAMILY, "squash_512")["z"][0].abs() > 1e-3).all(0).flatten().tolist()
    keep = torch.tensor([True, True, *sure, *[True] * (len(spelled) - 2 - len(codes))])
    assert torch.equal(encoded.embeddings[keep], wanted[keep])


def test_an_image_is_cropped_unless_the_checkpoint_says_otherwise(coded_checkpoint: CheckpointOf) -> None:
    plain, crop, squash = Framing(), *(inspect(coded_checkpoint(fit)).image_rule for fit in ("crop", "squash"))
    assert plain == crop
    assert squash == Framing(fit="squash")


def test_the_encoder_keeps_its_precision_whatever_the_rest_is_loaded_in(coded_checkpoint: CheckpointOf) -> None:
    loaded = load_model(coded_checkpoint("crop"), dtype=torch.float16)
    assert isinstance(loaded, CodeModel)
    assert {parameter.dtype for parameter in loaded.tower.parameters()} == {torch.float32}
    assert {parameter.dtype for parameter in loaded.decoder.parameters()} == {torch.float16}


def test_without_an_image_tokenizer_the_model_answers_text_alone(golden_checkpoint: Callable[[str], Path]) -> None:
    folder = golden_checkpoint("mmada")
    assert type(load_model(folder)) is MultimodalModel
    with pytest.raises(InvalidRequest, match="image"):
        load_processor(folder).prepare([Message(role="user", text="hi", images=(b"picture",))])
