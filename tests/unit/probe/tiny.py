"""A random decoder small enough for unit tests, and a model that is nothing but that decoder."""

from __future__ import annotations

from typing import cast

import torch

from seer_core.config import DecoderConfig
from seer_core.models.decoder import Decoder
from seer_core.models.multimodal import MultimodalModel
from seer_core.prompt import EncodedPrompt
from seer_core.types import TokenRoles

ROLES = TokenRoles(mask_id=31, fill_id=30, end_ids=frozenset({29, 30}))


def tiny_decoder(layers: int = 3) -> Decoder:
    torch.manual_seed(0)
    config = DecoderConfig(
        hidden_size=32,
        layers=layers,
        heads=4,
        kv_heads=2,
        mlp_size=48,
        vocab_size=32,
        rope_theta=10000.0,
        norm_eps=1e-5,
        max_positions=256,
    )
    return Decoder(config).eval().requires_grad_(False)


class DecoderOnly:
    """Stands in for a vision-language model where no image is encoded."""

    def __init__(self, decoder: Decoder) -> None:
        self.decoder = decoder


def tiny_model(layers: int = 3) -> MultimodalModel:
    return cast("MultimodalModel", DecoderOnly(tiny_decoder(layers)))


def random_prompt(length: int, seed: int) -> EncodedPrompt:
    return EncodedPrompt(embeddings=torch.randn(length, 32, generator=torch.Generator().manual_seed(seed)))
