"""A request as numbers: `Prompt` before the vision tower, `EncodedPrompt` after it.

Arrays are numpy on the way in, so that a process that only prepares prompts needs no torch.
Legend: T views of an image, C channels, N patches, P prompt positions (images expanded), D hidden width.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import torch


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageViews:
    """One image cut for the tower.

    `pixels` is float32 [T, C, H, W], the whole image first, then the tiles row by row. `size_px` is (width, height) of
    the original, `grid` is (columns, rows) of tiles, `margin` the feature columns at each side and the rows at top and
    bottom that show padding. `map_size` is (columns, rows) of features in the tile map once the margin is cut and the
    map is shrunk to what the family allows. `tokens` is the number of prompt positions the image fills. Without tiles
    there is one view, and grid and map are empty.
    """

    pixels: NDArray[np.float32]
    size_px: tuple[int, int]
    grid: tuple[int, int]
    margin: tuple[int, int]
    map_size: tuple[int, int]
    tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ImagePatches:
    """One image at its own resolution, cut into patches.

    `patches` is float32 [N, values of a patch], the patches that become one token side by side, tokens row by row.
    `size_px` is (width, height) of the original, `grid` and `token_grid` are (columns, rows) of patches and of tokens.
    """

    patches: NDArray[np.float32]
    size_px: tuple[int, int]
    grid: tuple[int, int]
    token_grid: tuple[int, int]

    @property
    def tokens(self) -> int:
        """The number of prompt positions the image fills."""
        return self.token_grid[0] * self.token_grid[1]


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageFrame:
    """One image brought to a fixed square.

    `pixels` is float32 [C, H, W], `size_px` (width, height) of the original, `tokens` the number of prompt positions
    the image fills.
    """

    pixels: NDArray[np.float32]
    size_px: tuple[int, int]
    tokens: int


PreparedImage = ImageViews | ImagePatches | ImageFrame
"""One image as some tower takes it; each kind has `size_px` and `tokens`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """Token ids int64 [n] with one placeholder id per image, and the images in their order.

    `length_tokens` is P: the positions the prompt fills once every placeholder is expanded.
    """

    ids: NDArray[np.int64]
    images: tuple[PreparedImage, ...]
    length_tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class EncodedPrompt:
    """The prompt as the decoder takes it: `embeddings` [P, D].

    `positions` int64 [3, P] are rotary positions by time, height and width; None says that row i stands at i.
    """

    embeddings: torch.Tensor
    positions: torch.Tensor | None = None

    @property
    def length_tokens(self) -> int:
        return int(self.embeddings.shape[0])

    @property
    def next_position(self) -> int:
        """The rotary position of what follows the prompt: in all three directions, where there are three."""
        return self.length_tokens if self.positions is None else int(self.positions.max()) + 1
