"""What the families made with LLaVA's code share: SigLIP, projector and newline names, tiling, the system turn."""

from __future__ import annotations

from seer_core.families.family import Fields
from seer_core.preprocess.image import Tiling
from seer_core.preprocess.tiling import read_tiling

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


def pooled_tiling(fields: Fields, vision: Fields, preprocessor: Fields) -> Tiling:
    """LaViDa's tiles: every view pooled two by two."""
    del preprocessor
    return read_tiling(fields, vision, pooled=True)


def whole_tiling(fields: Fields, vision: Fields, preprocessor: Fields) -> Tiling:
    """LLaDA-V's tiles: every patch a token, and no tiles where a prompt has several images."""
    del preprocessor
    return read_tiling(fields, vision, pooled=False, pads_several=True)
