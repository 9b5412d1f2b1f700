"""What the families made with LLaVA's code share: SigLIP, projector and newline names, tiling, the system turn."""

from __future__ import annotations

from types import MappingProxyType

from seer_core.families.family import Fields
from seer_core.preprocess.image import Tiling
from seer_core.preprocess.tiling import read_tiling

PROJECTOR_MARK = "model.mm_projector.0.weight"

LLAVA_NAMES: tuple[tuple[str, str], ...] = (
    (r"model\.image_newline", r"newline"),
    (r"model\.mm_projector\.(\d)\.(weight|bias)", r"projector.\1.\2"),
    (r"model\.vision_tower\.vision_tower\.vision_model\.(.+)", r"tower.vision_model.\1"),
)

SO400M_PATCH14_384: Fields = MappingProxyType(
    {
        "hidden_size": 1152,
        "intermediate_size": 4304,
        "num_hidden_layers": 27,
        "num_attention_heads": 16,
        "num_channels": 3,
        "image_size": 384,
        "patch_size": 14,
        "hidden_act": "gelu_pytorch_tanh",
        "layer_norm_eps": 1e-6,
        "attention_dropout": 0.0,
    }
)
"""The tower every published checkpoint of these families uses; they name it and do not ship its config."""

SYSTEM = (
    "You are a helpful language and vision assistant. You are able to understand the visual content that the user "
    "provides, and assist the user with a variety of tasks using natural language."
)


def pooled_tiling(fields: Fields, vision: Fields, preprocessor: Fields) -> Tiling:
    """LaViDa's tiles: every view pooled two by two."""
    del preprocessor
    return read_tiling(fields, vision, pooled=True)


def whole_tiling(fields: Fields, vision: Fields, preprocessor: Fields) -> Tiling:
    """LLaDA-V's tiles: every patch a token, and no tiles where a prompt has several images."""
    del preprocessor
    return read_tiling(fields, vision, pooled=False, pads_several=True)
