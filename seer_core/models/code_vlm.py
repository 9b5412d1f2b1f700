"""A decoder that has image codes in its vocabulary, and the encoder that makes them, as MMaDA has them.

Parameters: `decoder`, and `tower`, which comes from a folder of its own (`magvit.NAMES`).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from seer_core.models.decoder import Decoder
from seer_core.models.multimodal import MultimodalModel
from seer_core.models.vision.magvit import MagvitEncoder
from seer_core.prompt import ImageFrame, PreparedImage


class CodeModel(MultimodalModel):
    """Image codes, embedded like any token, in the places of the prompt's image placeholders."""

    def __init__(self, decoder: Decoder, tower: MagvitEncoder, placeholder_id: int, *, first_code_id: int) -> None:
        """`first_code_id` is the token id of code 0.

        The tower keeps its own dtype: a bit lies on either side of zero, and rounding moves it across.
        """
        super().__init__(decoder, placeholder_id)
        self.tower = tower
        self.first_code_id = first_code_id

    def image_tokens(self, images: Sequence[PreparedImage]) -> list[Tensor]:
        """[image.tokens, D] of each framed image."""
        framed = [image for image in images if isinstance(image, ImageFrame)]
        return [self.decoder.embed(ids[None])[0] for ids in self.image_ids(framed)]

    def image_ids(self, images: Sequence[ImageFrame]) -> list[Tensor]:
        """Token ids int64 [image.tokens] of each image, in one pass of the tower."""
        if not images:
            return []
        pixels = torch.from_numpy(np.stack([image.pixels for image in images]))
        return list(self.tower.codes(pixels.to(self.device, self.tower.dtype)) + self.first_code_id)
