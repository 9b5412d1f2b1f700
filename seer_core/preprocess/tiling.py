"""The tiling rule in a LLaVA-like config.json, in the spellings that published checkpoints use.

Knows the fields and no family: whether views are pooled, and several images padded, is for the family to say.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from typing import Any

from seer_core.errors import ConfigError
from seer_core.preprocess.image import Size, Tiling


def read_tiling(
    fields: Mapping[str, Any], vision: Mapping[str, Any], *, pooled: bool, pads_several: bool = False
) -> Tiling:
    """The tiling of a checkpoint's `fields` for the tower described by `vision`; `pooled` halves a tile's side.

    Raises `ConfigError` for an aspect rule or a list of canvases that is not understood.
    """
    side_px = int(vision["image_size"])
    patches = side_px // int(vision["patch_size"])
    return Tiling(
        tile_px=side_px,
        canvases_px=read_canvases(fields["image_grid_pinpoints"], side_px),
        side_tokens=-(-patches // 2) if pooled else patches,
        max_tiles=read_max_tiles(fields["image_aspect_ratio"]),
        pads_several=pads_several,
    )


def read_canvases(grid: object, tile_px: int) -> tuple[Size, ...]:
    """Canvas sizes in pixels from a list, a list in a string, or a range of tiles, `(1x1),...,(6x6)`."""
    try:
        if isinstance(grid, str):
            ends = [(int(columns), int(rows)) for columns, rows in re.findall(r"\((\d+)x(\d+)\)", grid)]
            if ends:
                (first_column, first_row), (last_column, last_row) = ends[0], ends[-1]
                columns, rows = range(first_column, last_column + 1), range(first_row, last_row + 1)
                return tuple((column * tile_px, row * tile_px) for column in columns for row in rows)
            grid = ast.literal_eval(grid)
        canvases = tuple((int(width), int(height)) for width, height in grid)  # type: ignore[attr-defined]
    except (ValueError, TypeError, SyntaxError) as error:
        raise ConfigError(f"image_grid_pinpoints is not understood: {grid!r}", field="image_grid_pinpoints") from error
    if not canvases or any(side <= 0 or side % tile_px for canvas in canvases for side in canvas):
        text = f"image_grid_pinpoints holds sizes that are not made of tiles of {tile_px} pixels: {grid!r}"
        raise ConfigError(text, field="image_grid_pinpoints")
    return canvases


def read_max_tiles(aspect: str) -> int | None:
    """The N of `anyres_max_N`; None for plain `anyres`."""
    match = re.fullmatch(r"anyres(?:_max_([1-9]\d*))?", aspect)
    if match is None:
        text = f"image_aspect_ratio {aspect!r} is not supported; known are anyres and anyres_max_N"
        raise ConfigError(text, field="image_aspect_ratio")
    return None if match[1] is None else int(match[1])
