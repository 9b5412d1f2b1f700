"""A decoder and what turns a prompt into its embeddings: the part every family shares.

Legend: P prompt positions, D decoder width. It knows no tower; a subclass brings one, and this class alone is a model
of text. Its parameters are those of `decoder`.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from seer_core.errors import InvalidRequest
from seer_core.models.decoder import Decoder
from seer_core.prompt import EncodedPrompt, PreparedImage, Prompt


class MultimodalModel(nn.Module):
    """Encodes prompts; the decoder takes it from there."""

    def __init__(self, decoder: Decoder, placeholder_id: int) -> None:
        super().__init__()
        self.decoder = decoder
        self.placeholder_id = placeholder_id

    @property
    def device(self) -> torch.device:
        return self.decoder.embedding.weight.device

    @torch.inference_mode()
    def encode(self, prompt: Prompt) -> EncodedPrompt:
        """Embeddings [P, D] of the prompt, every placeholder replaced by its image's tokens."""
        embeddings = self.splice(torch.from_numpy(prompt.ids).to(self.device), self.image_tokens(prompt.images))
        return EncodedPrompt(embeddings=embeddings, positions=self.positions(prompt))

    def image_tokens(self, images: Sequence[PreparedImage]) -> list[Tensor]:
        """Embeddings [image.tokens, D] of each image. Raises `InvalidRequest` where the model cannot see."""
        if images:
            raise InvalidRequest("this model takes no images", field="messages")
        return []

    def positions(self, prompt: Prompt) -> Tensor | None:
        """Rotary positions int64 [3, P] for a decoder that counts in three directions, else None."""
        del prompt
        return None

    def splice(self, ids: Tensor, images: list[Tensor]) -> Tensor:
        """Token ids int64 [n] and image tokens [*, D] -> [P, D]."""
        places = (ids == self.placeholder_id).nonzero().flatten().tolist()
        text = self.decoder.embed(ids.clamp_min(0)[None])[0]
        parts: list[Tensor] = []
        start = 0
        for place, image in zip(places, images, strict=True):
            parts += [text[start:place], image]
            start = place + 1
        return torch.cat((*parts, text[start:]))
