"""A vision tower, a projector and the decoder put together the LLaVA way.

Legend: T views, n patches per tile side, m = ceil(n / 2) pooled, D decoder width, P prompt positions.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.functional import interpolate

from seer_core.models.decoder import Decoder
from seer_core.models.projector import MlpProjector
from seer_core.models.vision.siglip import SiglipTower
from seer_core.prompt import EncodedPrompt, ImageViews, Prompt


class VisionLanguageModel(nn.Module):
    """Encodes prompts with images; the decoder takes it from there."""

    def __init__(self, decoder: Decoder, tower: SiglipTower, placeholder_id: int) -> None:
        super().__init__()
        self.decoder = decoder
        self.tower = tower
        self.projector = MlpProjector(tower.hidden_size, decoder.config.hidden_size)
        self.newline = nn.Parameter(torch.zeros(decoder.config.hidden_size))
        self.placeholder_id = placeholder_id

    @property
    def device(self) -> torch.device:
        return self.newline.device

    @torch.inference_mode()
    def encode(self, prompt: Prompt) -> EncodedPrompt:
        """Embeddings [P, D] of the prompt, every placeholder replaced by its image's tokens."""
        images = self.encode_views([self._pixels(image) for image in prompt.images])
        merged = [self.merge(views, image) for views, image in zip(images, prompt.images, strict=True)]
        return EncodedPrompt(embeddings=self.splice(torch.from_numpy(prompt.ids).to(self.device), merged))

    def encode_views(self, images: list[Tensor]) -> list[Tensor]:
        """Pixels [T, C, S, S] per image -> pooled features [T, m, m, D] per image, in one pass of the tower."""
        if not images:
            return []
        features = self.projector(self.tower(torch.cat(images)))  # [sum T, n * n, D]
        pooled = pool_half(features.unflatten(1, (self.tower.patches_per_side,) * 2))
        return list(pooled.split([len(image) for image in images]))

    def merge(self, views: Tensor, image: ImageViews) -> Tensor:
        """[T, m, m, D] -> [image.tokens, D]: the base view, then the unpadded tile map, a newline after each row."""
        base, tiles = views[0].flatten(0, 1), views[1:]
        return torch.cat((base, self._rows(join_tiles(tiles, image.grid), image.margin)))

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

    def _rows(self, grid_map: Tensor, margin: tuple[int, int]) -> Tensor:
        left, top = margin
        height, width = grid_map.shape[:2]
        kept = grid_map[top : height - top, left : width - left]  # [rows, columns, D]
        newline = self.newline.expand(len(kept), 1, -1)
        return torch.cat((kept, newline), dim=1).flatten(0, 1)

    def _pixels(self, image: ImageViews) -> Tensor:
        # A copy: an array that came from another process is read-only, and a tensor may not share it.
        return torch.tensor(image.pixels, device=self.device, dtype=self.newline.dtype)


def pool_half(features: Tensor) -> Tensor:
    """Bilinear pooling [T, n, n, D] -> [T, m, m, D], m = ceil(n / 2), as LaViDa pools every view."""
    side = -(-features.shape[1] // 2)
    pooled = interpolate(features.permute(0, 3, 1, 2), size=(side, side), mode="bilinear")
    return pooled.permute(0, 2, 3, 1)


def join_tiles(tiles: Tensor, grid: tuple[int, int]) -> Tensor:
    """[T, m, m, D], rows first -> one map [rows * m, columns * m, D]."""
    columns, rows = grid
    side = tiles.shape[1]
    joined: Tensor = tiles.unflatten(0, (rows, columns)).transpose(1, 2).reshape(rows * side, columns * side, -1)
    return joined
