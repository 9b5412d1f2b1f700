"""The published checkpoints' sizes, without their weights: what each family takes in memory."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from torch import nn

from seer_core.engine.footprint import Footprint
from seer_core.families.checkpoint import CheckpointInfo
from seer_core.families.detection import family_named
from seer_core.families.llava import SO400M_PATCH14_384
from seer_core.families.network import build_model
from seer_core.models.skeleton import skeleton
from seer_core.models.vision.magvit import MagvitEncoder, MagvitSizes
from tests.golden import weights

LLADA = {"d_model": 4096, "n_heads": 32, "n_kv_heads": 32, "n_layers": 32, "mlp_hidden_size": 12288}
QWEN = {
    "hidden_size": 3584,
    "intermediate_size": 18944,
    "num_hidden_layers": 28,
    "num_attention_heads": 28,
    "num_key_value_heads": 4,
}
LLAMA = {
    "hidden_size": 4096,
    "intermediate_size": 12288,
    "num_hidden_layers": 32,
    "num_attention_heads": 32,
    "num_key_value_heads": 32,
}
TOWER = {"mm_hidden_size": 1152}
VIT = {"depth": 32, "hidden_size": 1280, "intermediate_size": 3420, "num_heads": 16, "out_hidden_size": 3584}
SIZES: dict[str, dict[str, Any]] = {
    "lavida_llada": LLADA | TOWER,
    "lavida_dream": QWEN | TOWER,
    "llada_v": LLAMA | TOWER,
    "mmada": LLADA,
    "dimple": QWEN | {"mrope_section": [16, 24, 24]},
    "llada": LLADA,
    "dream": QWEN,
}
LAYOUTS = {"llada": "lavida_llada", "dream": "lavida_dream"}
MAGVIT = MagvitSizes(stem=128, widths=(128, 256, 256, 512, 512), blocks=(4, 3, 4, 3, 4), bits=13)


@dataclass(frozen=True, slots=True, kw_only=True)
class Need:
    """Bytes with weights in bfloat16: the decoder's, all that sees, and keys and values of one position."""

    decoder: int
    eyes: int
    token: int


def need_of(family: str) -> Need:
    fields = weights.config(LAYOUTS.get(family, family)) | SIZES[family]  # type: ignore[no-untyped-call]
    vision: dict[str, Any] = {}
    if family == "dimple":
        vision = fields["vision_config"] | VIT | {"fullatt_block_indexes": [7, 15, 23, 31]}
    elif "mm_vision_tower" in fields:
        vision = dict(SO400M_PATCH14_384)
    info = CheckpointInfo(
        folder=Path(family),
        family=family_named(family),
        fields=fields,
        vision=vision,
        preprocessor={"min_pixels": 3136, "max_pixels": 1003520, "patch_size": 14, "merge_size": 2},
        codes=None,
        local={},
    )
    with skeleton():
        model = build_model(info)
        eyes = 4 * parameters(MagvitEncoder(MAGVIT)) if family == "mmada" else 0  # codes are made in float32
    decoder = 2 * parameters(model.decoder)
    seen = 2 * parameters(model) - decoder
    return Need(decoder=decoder, eyes=eyes or seen, token=Footprint.of(info.decoder, 2).key_bytes)


def parameters(module: nn.Module) -> int:
    return sum(parameter.numel() for parameter in module.parameters())
