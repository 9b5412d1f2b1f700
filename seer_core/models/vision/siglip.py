"""SigLIP as LLaVA uses it: transformers' encoder without its last layer, features before the final norm.

Legend: T views, C channels, H x W pixels, n patches per side, D tower width.
"""

from __future__ import annotations

from typing import Any

from torch import Tensor, nn
from transformers import SiglipVisionConfig
from transformers.models.siglip.modeling_siglip import SiglipVisionModel

SO400M_PATCH14_384: dict[str, Any] = {
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
"""The tower every published checkpoint of these families uses; they name it and do not ship its config."""


class SiglipTower(nn.Module):
    """[T, C, H, W] -> [T, n * n, D]: the output of the last but one layer.

    The last layer is not built and the pooling head is off, so a checkpoint holds one layer less than its config says.
    """

    def __init__(self, fields: dict[str, Any]) -> None:
        super().__init__()
        kept = {**fields, "num_hidden_layers": fields["num_hidden_layers"] - 1, "vision_use_head": False}
        config = SiglipVisionConfig(**kept)
        config._attn_implementation = "sdpa"
        self.vision_model = SiglipVisionModel(config)
        self.hidden_size: int = fields["hidden_size"]
        self.patches_per_side: int = fields["image_size"] // fields["patch_size"]

    def forward(self, pixels: Tensor) -> Tensor:
        tower = self.vision_model
        embedded = tower.embeddings(pixels)
        features: Tensor = tower.encoder(inputs_embeds=embedded).last_hidden_state
        return features
