"""A tower that takes images at their own resolution, a projector and the decoder, as Dimple has them.

Parameters: `tower`, `projector`, `decoder`. The decoder turns queries and keys by positions in three directions.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from seer_core.models.decoder import Decoder
from seer_core.models.grid_positions import grid_positions
from seer_core.models.multimodal import MultimodalModel
from seer_core.models.projector import SiluProjector
from seer_core.models.vision.qwen_vit import QwenVit
from seer_core.prompt import ImagePatches, PreparedImage, Prompt


class NativeResolutionModel(MultimodalModel):
    """Merged patches, projected, in the places of the prompt's image placeholders."""

    def __init__(self, decoder: Decoder, tower: QwenVit, placeholder_id: int) -> None:
        super().__init__(decoder, placeholder_id)
        self.tower = tower
        self.projector = SiluProjector(tower.out_size, decoder.config.hidden_size)

    def image_tokens(self, images: Sequence[PreparedImage]) -> list[Tensor]:
        """[image.tokens, D] of each image cut into patches, in one pass of the tower."""
        cut = _patched(images)
        if not cut:
            return []
        patches = torch.from_numpy(np.concatenate([image.patches for image in cut]))
        merged = self.tower(patches.to(self.device, self.tower.dtype), [image.grid for image in cut])
        return list(self.projector(merged).split([image.tokens for image in cut]))

    def positions(self, prompt: Prompt) -> Tensor:
        """int64 [3, P] by time, height and width; see `grid_positions`."""
        grids = [image.token_grid for image in _patched(prompt.images)]
        return grid_positions(prompt.ids.tolist(), grids, self.placeholder_id).to(self.device)


def _patched(images: Sequence[PreparedImage]) -> list[ImagePatches]:
    return [image for image in images if isinstance(image, ImagePatches)]
