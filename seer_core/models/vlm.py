"""A vision tower, a projector and the decoder put together the LLaVA way: tiles joined to a map, a newline a row.

Legend: T views, n patches per tile side, m tokens per tile side (n, or ceil(n / 2) pooled), D decoder width.
Parameters: `tower`, `projector`, `newline` [D], `decoder`.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn.functional import interpolate

from seer_core.models.decoder import Decoder
from seer_core.models.multimodal import MultimodalModel
from seer_core.models.projector import MlpProjector
from seer_core.models.vision.siglip import SiglipTower
from seer_core.prompt import ImageViews, PreparedImage


class VisionLanguageModel(MultimodalModel):
    """LaViDa with `pooled` views, LLaDA-V without."""

    def __init__(self, decoder: Decoder, tower: SiglipTower, placeholder_id: int, *, pooled: bool = True) -> None:
        super().__init__(decoder, placeholder_id)
        self.tower = tower
        self.projector = MlpProjector(tower.hidden_size, decoder.config.hidden_size)
        self.newline = nn.Parameter(torch.zeros(decoder.config.hidden_size))
        self.pooled = pooled

    def image_tokens(self, images: Sequence[PreparedImage]) -> list[Tensor]:
        """[image.tokens, D] of each image cut into views."""
        cut = [image for image in images if isinstance(image, ImageViews)]
        encoded = self.encode_views([self._pixels(image) for image in cut])
        return [self.merge(views, image) for views, image in zip(encoded, cut, strict=True)]

    def encode_views(self, images: list[Tensor]) -> list[Tensor]:
        """Pixels [T, C, S, S] per image -> features [T, m, m, D] per image, in one pass of the tower."""
        if not images:
            return []
        features = self.projector(self.tower(torch.cat(images)))  # [sum T, n * n, D]
        grid = features.unflatten(1, (self.tower.patches_per_side,) * 2)
        return list((pool_half(grid) if self.pooled else grid).split([len(image) for image in images]))

    def merge(self, views: Tensor, image: ImageViews) -> Tensor:
        """[T, m, m, D] -> [image.tokens, D]: the base view, then the tile map, a newline after each of its rows.

        The base view alone is followed by one newline.
        """
        base, tiles = views[0].flatten(0, 1), views[1:]
        if not len(tiles):
            return torch.cat((base, self.newline[None]))
        return torch.cat((base, self._rows(join_tiles(tiles, image.grid), image)))

    def _rows(self, grid_map: Tensor, image: ImageViews) -> Tensor:
        left, top = image.margin
        height, width = grid_map.shape[:2]
        kept = grid_map[top : height - top, left : width - left]  # [rows, columns, D]
        columns, rows = image.map_size
        if kept.shape[:2] != (rows, columns):
            kept = resize_map(kept, (rows, columns))
        newline = self.newline.expand(len(kept), 1, -1)
        return torch.cat((kept, newline), dim=1).flatten(0, 1)

    def _pixels(self, image: ImageViews) -> Tensor:
        # A copy: an array that came from another process is read-only, and a tensor may not share it.
        return torch.tensor(image.pixels, device=self.device, dtype=self.newline.dtype)


def pool_half(features: Tensor) -> Tensor:
    """Bilinear pooling [T, n, n, D] -> [T, m, m, D], m = ceil(n / 2), as LaViDa pools every view."""
    side = -(-features.shape[1] // 2)
    return _resampled(features, (side, side))


def resize_map(features: Tensor, size: tuple[int, int]) -> Tensor:
    """Bilinear [h, w, D] -> [rows, columns, D] for `size` (rows, columns), as `anyres_max` shrinks a map."""
    return _resampled(features[None], size)[0]


def join_tiles(tiles: Tensor, grid: tuple[int, int]) -> Tensor:
    """[T, m, m, D], rows first -> one map [rows * m, columns * m, D]."""
    columns, rows = grid
    side = tiles.shape[1]
    joined: Tensor = tiles.unflatten(0, (rows, columns)).transpose(1, 2).reshape(rows * side, columns * side, -1)
    return joined


def _resampled(features: Tensor, size: tuple[int, int]) -> Tensor:
    return interpolate(features.permute(0, 3, 1, 2), size=size, mode="bilinear").permute(0, 2, 3, 1)
