"""SigLIP as LLaVA uses it: transformers' encoder without its last layer, features before the final norm.

Legend: T views, C channels, H x W pixels, n patches per side, D tower width.
"""

from __future__ import annotations

from typing import Any

from torch import Tensor, nn
from transformers import SiglipVisionConfig
from transformers.models.siglip.modeling_siglip import SiglipVisionModel


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
