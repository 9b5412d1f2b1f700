"""Image bytes to tower views: decoding under limits, and LLaVA's any-resolution tiling.

Legend: T views, C channels, S tile side in pixels. Sizes are (width, height), grids are (columns, rows).
"""

from __future__ import annotations

import io
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageOps

from seer_core.errors import BadImage, ImageTooLarge
from seer_core.prompt import ImageViews

Size = tuple[int, int]

FORMATS = ("PNG", "JPEG", "GIF", "WEBP", "BMP", "TIFF", "PPM", "JPEG2000")
"""Pillow's other readers run outside programs (EPS), unpack pixels before the size is known (ICO), or are rarely used
and little tested."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageLimits:
    """What may be decoded; checked on the header, before a pixel is unpacked."""

    max_bytes: int = 20 * 2**20
    max_pixels: int = 50_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Tiling:
    """Any-resolution tiling: the tile side, the canvases an image may be laid on, the pooled tokens per tile side."""

    tile_px: int
    canvases_px: tuple[Size, ...]
    side_tokens: int


def decode_image(data: bytes, limits: ImageLimits) -> Image.Image:
    """Decode to an upright RGB image.

    Raises `ImageTooLarge` for more bytes or pixels than `limits` allow and `BadImage` for anything that is no image.
    """
    if len(data) > limits.max_bytes:
        raise ImageTooLarge(f"the image has {len(data)} bytes; at most {limits.max_bytes} are accepted", field="image")
    try:
        image = Image.open(io.BytesIO(data), formats=FORMATS)
    except Image.DecompressionBombError as error:
        raise ImageTooLarge(str(error), field="image") from error
    except Exception as error:  # hostile bytes make the readers raise nearly anything
        raise BadImage("the data is not an image in a format that can be read", field="image") from error
    width, height = image.size
    if width * height > limits.max_pixels:
        text = f"the image is {width} x {height} pixels; at most {limits.max_pixels} pixels are accepted"
        raise ImageTooLarge(text, field="image")
    try:
        return _flatten(ImageOps.exif_transpose(image))
    except Exception as error:  # as above
        raise BadImage(f"the image cannot be decoded: {error}", field="image") from error


def cut_views(image: Image.Image, tiling: Tiling) -> ImageViews:
    """The whole image squashed to one tile, then the tiles of the best canvas, rows first.

    Follows LLaVA's `anyres`: bicubic, black padding, values in [-1, 1].
    """
    canvas = best_canvas(image.size, tiling.canvases_px)
    side = tiling.tile_px
    columns, rows = canvas[0] // side, canvas[1] // side
    whole = image.resize((side, side), Image.Resampling.BICUBIC)
    laid = _lay(image, canvas)
    tiles = [
        laid.crop((x * side, y * side, (x + 1) * side, (y + 1) * side)) for y in range(rows) for x in range(columns)
    ]
    pixels = np.stack([_normalise(view) for view in (whole, *tiles)])  # [T, C, S, S]
    left, top = unpad_margin(image.size, (columns, rows), tiling.side_tokens)
    kept_columns, kept_rows = columns * tiling.side_tokens - 2 * left, rows * tiling.side_tokens - 2 * top
    return ImageViews(
        pixels=pixels,
        size_px=image.size,
        grid=(columns, rows),
        margin=(left, top),
        tokens=tiling.side_tokens**2 + kept_rows * (kept_columns + 1),
    )


def best_canvas(size: Size, canvases: Sequence[Size]) -> Size:
    """The canvas that keeps the most pixels of the image, then the one that wastes the fewest; the first of equals."""

    def merit(canvas: Size) -> tuple[int, int]:
        scale = min(canvas[0] / size[0], canvas[1] / size[1])
        kept = min(int(size[0] * scale) * int(size[1] * scale), size[0] * size[1])
        return kept, kept - canvas[0] * canvas[1]

    return max(canvases, key=merit)


def unpad_margin(size: Size, grid: Size, side_tokens: int) -> Size:
    """Feature columns cut at each side and rows cut at top and bottom (LLaVA's `unpad_image`)."""
    columns, rows = grid[0] * side_tokens, grid[1] * side_tokens
    width, height = size
    if width / height > columns / rows:
        return 0, (rows - int(height * (columns / width))) // 2
    return (columns - int(width * (rows / height))) // 2, 0


def _lay(image: Image.Image, canvas: Size) -> Image.Image:
    scale_x, scale_y = canvas[0] / image.width, canvas[1] / image.height
    if scale_x < scale_y:
        size = canvas[0], min(math.ceil(image.height * scale_x), canvas[1])
    else:
        size = min(math.ceil(image.width * scale_y), canvas[0]), canvas[1]
    laid = Image.new("RGB", canvas, (0, 0, 0))
    laid.paste(image.resize(size), ((canvas[0] - size[0]) // 2, (canvas[1] - size[1]) // 2))
    return laid


def _normalise(view: Image.Image) -> NDArray[np.float32]:
    values = np.asarray(view, dtype=np.float32) * np.float32(1 / 255)
    return ((values - np.float32(0.5)) / np.float32(0.5)).transpose(2, 0, 1)  # [C, S, S]


def _flatten(image: Image.Image) -> Image.Image:
    if image.mode.startswith("I;16"):
        image = Image.fromarray((np.asarray(image) >> 8).astype(np.uint8))
    return image.convert("RGB")
