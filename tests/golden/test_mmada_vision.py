"""MMaDA's images against the reference: framed pixels, every level of the encoder, and the codes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors import safe_open
from torch import Tensor, nn

from seer_core.models.code_vlm import CodeModel
from seer_core.models.vision.magvit import NAMES, MagvitEncoder, quantise, read_sizes
from seer_core.models.weights import load_into
from seer_core.preprocess.frame import Framing, frame_image
from seer_core.preprocess.image import ImageLimits, decode_image
from seer_core.prompt import ImageFrame
from tests.golden.conftest import CASES, case_names, load_case, load_numbers
from tests.golden.vision import bare_decoder, prompt_of

FAMILY = "mmada_magvit"
NAMES_OF_CASES = case_names(FAMILY)
PLACEHOLDER = -200


@pytest.fixture(scope="module")
def tower(golden_checkpoint: Callable[[str], Path]) -> MagvitEncoder:
    folder = golden_checkpoint(FAMILY)
    with safe_open(folder / "model.safetensors", framework="np") as file:
        shapes = {name: file.get_slice(name).get_shape() for name in file.keys()}  # noqa: SIM118 - no mapping
    built = MagvitEncoder(read_sizes(shapes))
    load_into(built, folder, NAMES, prefix="tower.")
    return built.eval().requires_grad_(False)


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


@pytest.mark.parametrize("name", NAMES_OF_CASES)
def test_codes_stand_in_the_prompt_as_tokens_of_their_own(name: str, tower: MagvitEncoder) -> None:
    case = load_case(FAMILY, name)
    first = case["expected"]["id_offset_in_language_model"]
    torch.manual_seed(0)
    model = CodeModel(bare_decoder(8, 134656), tower, PLACEHOLDER, first_code_id=first)
    image = framed(case)
    ids = [126089, 126084, PLACEHOLDER, 126085, 7]
    encoded = model.encode(prompt_of({"prompt_length": 4 + image.tokens}, [image], ids))
    sure = (load_numbers(FAMILY, name)["z"][0].abs() > 1e-3).all(0).flatten()
    spelled = [*ids[:2], *(first + code for code in case["expected"]["codes"]), *ids[3:]]
    wanted = model.decoder.embed(torch.tensor(spelled)[None])[0]
    keep = torch.tensor([True, True, *sure.tolist(), True, True])
    assert torch.equal(encoded.embeddings[keep], wanted[keep])
