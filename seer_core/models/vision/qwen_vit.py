"""The vision tower of Qwen2.5-VL, as transformers has it: attention in windows, full in some blocks, patches merged.

Legend: N patches of all images, V values of a patch, n tokens of all images, D output width.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields as fields_of
from typing import Any

import torch
from torch import Tensor, nn
from transformers.models.qwen2_5_vl.configuration_qwen2_5_vl import Qwen2_5_VLVisionConfig
from transformers.models.qwen2_5_vl.modeling_qwen2_5_vl import Qwen2_5_VisionTransformerPretrainedModel


class QwenVit(nn.Module):
    """Patches [N, V] -> merged tokens [n, D].

    Parameters carry the checkpoint's names under `visual`: `visual.patch_embed`, `visual.blocks.N`, `visual.merger`.
    """

    def __init__(self, fields: Mapping[str, Any]) -> None:
        """`fields` is `vision_config` of config.json; fields of other towers in it are passed over."""
        super().__init__()
        known = {field.name for field in fields_of(Qwen2_5_VLVisionConfig)} - {"model_type"}
        config = Qwen2_5_VLVisionConfig(**{name: value for name, value in fields.items() if name in known})
        config._attn_implementation = "sdpa"
        self.visual = Qwen2_5_VisionTransformerPretrainedModel(config)
        self.out_size: int = config.out_hidden_size

    @property
    def dtype(self) -> torch.dtype:
        weight: Tensor = self.visual.patch_embed.proj.weight
        return weight.dtype

    def forward(self, patches: Tensor, grids: Sequence[tuple[int, int]]) -> Tensor:
        """`grids` are (columns, rows) of patches, one an image, whose patches follow one another."""
        shapes = torch.tensor([(1, rows, columns) for columns, rows in grids], device=patches.device)
        merged: Tensor = self.visual(patches, grid_thw=shapes).pooler_output
        return merged
