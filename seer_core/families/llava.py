"""What the families made with LLaVA's code share: SigLIP, projector and newline names, tiling, the system turn."""

from __future__ import annotations

import ast

from seer_core.families.family import Fields
from seer_core.preprocess.image import Tiling

PROJECTOR_MARK = "model.mm_projector.0.weight"

LLAVA_NAMES: tuple[tuple[str, str], ...] = (
    (r"model\.image_newline", r"newline"),
    (r"model\.mm_projector\.(\d)\.(weight|bias)", r"projector.\1.\2"),
    (r"model\.vision_tower\.vision_tower\.vision_model\.(.+)", r"tower.vision_model.\1"),
)

SYSTEM = (
    "You are a helpful language and vision assistant. You are able to understand the visual content that the user "
    "provides, and assist the user with a variety of tasks using natural language."
)


def pooled_tiling(fields: Fields, vision: Fields) -> Tiling:
    """LaViDa's tiles: every view pooled two by two."""
    grid = fields["image_grid_pinpoints"]
    canvases = ast.literal_eval(grid) if isinstance(grid, str) else grid
    patches = vision["image_size"] // vision["patch_size"]
    return Tiling(
        tile_px=vision["image_size"],
        canvases_px=tuple((width, height) for width, height in canvases),
        side_tokens=-(-patches // 2),
    )
