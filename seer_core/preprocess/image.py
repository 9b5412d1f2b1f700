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

MAX_SQUARE_PX = 10_000
"""The longest side that is padded to a square as it is; longer images are shrunk to it first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageLimits:
    """What may be decoded; checked on the header, before a pixel is unpacked."""

    max_bytes: int = 20 * 2**20
    max_pixels: int = 50_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Tiling:
    """Any-resolution tiling: the tile side, the canvases an image may be laid on, the tokens per tile side.

    `max_tiles` bounds the tile map, in tiles' worth of tokens, before it is shrunk (LLaVA's `anyres_max_N`).
    `pads_several` says that an image is not tiled but padded to a square where a prompt has more than one.
    """

    tile_px: int
    canvases_px: tuple[Size, ...]
    side_tokens: int
    max_tiles: int | None = None
    pads_several: bool = False


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
    pixels = np.stack([_view_pixels(view) for view in (whole, *tiles)])  # [T, C, S, S]
    left, top = unpad_margin(image.size, (columns, rows), tiling.side_tokens)
    kept = columns * tiling.side_tokens - 2 * left, rows * tiling.side_tokens - 2 * top
    map_size = shrunk_map(kept, tiling)
    return ImageViews(
        pixels=pixels,
        size_px=image.size,
        grid=(columns, rows),
        margin=(left, top),
        map_size=map_size,
        tokens=tiling.side_tokens**2 + map_size[1] * (map_size[0] + 1),
    )


def square_view(image: Image.Image, tiling: Tiling) -> ImageViews:
    """The image padded to a square with mid grey, as one view: LLaVA's `pad`, for several images in one prompt."""
    size, image = image.size, _bounded(image)
    side = max(image.size)
    square = Image.new("RGB", (side, side), (127, 127, 127))  # int(255 * mean), as the reference computes it
    square.paste(image, ((side - image.width) // 2, (side - image.height) // 2))
    view = square.resize((tiling.tile_px,) * 2, Image.Resampling.BICUBIC)
    return ImageViews(
        pixels=_view_pixels(view)[None],
        size_px=size,
        grid=(0, 0),
        margin=(0, 0),
        map_size=(0, 0),
        tokens=tiling.side_tokens**2 + 1,
    )


def normalised(image: Image.Image, mean: Sequence[float], std: Sequence[float]) -> NDArray[np.float32]:
    """RGB values scaled to one, less `mean`, over `std` (both a number or one per channel): [height, width, C]."""
    values: NDArray[np.float32] = (np.asarray(image, dtype=np.float64) * (1 / 255)).astype(np.float32)
    values -= np.array(mean, dtype=np.float32)
    values /= np.array(std, dtype=np.float32)
    return values


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


def shrunk_map(kept: Size, tiling: Tiling) -> Size:
    """The (columns, rows) of an unpadded tile map after the bound; up to a tenth too wide a side is let through."""
    if tiling.max_tiles is None:
        return kept
    columns, rows = kept
    times = math.sqrt(columns * rows / (tiling.max_tiles * tiling.side_tokens**2))
    return (int(columns // times), int(rows // times)) if times > 1.1 else kept


def _bounded(image: Image.Image) -> Image.Image:
    # A ribbon a million pixels long must not become a square of a million by a million.
    shrink = MAX_SQUARE_PX / max(image.size)
    if shrink >= 1:
        return image
    size = max(1, round(image.width * shrink)), max(1, round(image.height * shrink))
    return image.resize(size, Image.Resampling.BICUBIC)


def _lay(image: Image.Image, canvas: Size) -> Image.Image:
    scale_x, scale_y = canvas[0] / image.width, canvas[1] / image.height
    if scale_x < scale_y:
        size = canvas[0], min(math.ceil(image.height * scale_x), canvas[1])
    else:
        size = min(math.ceil(image.width * scale_y), canvas[0]), canvas[1]
    laid = Image.new("RGB", canvas, (0, 0, 0))
    laid.paste(image.resize(size), ((canvas[0] - size[0]) // 2, (canvas[1] - size[1]) // 2))
    return laid


def _view_pixels(view: Image.Image) -> NDArray[np.float32]:
    return normalised(view, (0.5,), (0.5,)).transpose(2, 0, 1)  # [C, S, S]


def _flatten(image: Image.Image) -> Image.Image:
    """RGB of any mode; transparency is dropped, not blended, as the references do."""
    if image.mode == "F":
        raise BadImage("floating-point pixels have no agreed range", field="image")
    if image.mode.startswith("I"):  # "I;16" and its byte orders, and "I", in which Pillow opens deep PPM files
        image = Image.fromarray((np.asarray(image).clip(0, 0xFFFF) >> 8).astype(np.uint8))
    if image.mode == "P":  # Pillow warns where it must drop the transparency of a palette on the way to RGB
        image = image.convert("RGBA")
    return image.convert("RGB")
