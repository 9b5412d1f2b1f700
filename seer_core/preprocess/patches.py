"""Images at their own resolution: resized to whole patches within bounds, and cut into patches (Qwen2.5-VL's way).

Legend: N patches, C channels, F frames a patch spans, S patch side in pixels, M patches merged per side. Sizes are
(width, height), grids are (columns, rows).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from PIL import Image

from seer_core.errors import BadImage, ConfigError
from seer_core.preprocess.image import Size, normalised
from seer_core.prompt import ImagePatches

MAX_ASPECT_RATIO = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Patching:
    """Patch sizes, the bounds on an image's area once resized, and the normalisation per channel."""

    patch_px: int = 14
    merge: int = 2
    frames: int = 2
    min_area_px: int = 56 * 56
    max_area_px: int = 28 * 28 * 1280
    mean: tuple[float, ...] = (0.48145466, 0.4578275, 0.40821073)
    std: tuple[float, ...] = (0.26862954, 0.26130258, 0.27577711)

    @property
    def unit_px(self) -> int:
        """The side of the square that becomes one token."""
        return self.patch_px * self.merge


def read_patching(fields: Mapping[str, Any]) -> Patching:
    """The rule in a checkpoint's preprocessor_config.json; what it leaves out has the default.

    Raises `ConfigError` where a step that is always taken here is switched off.
    """
    for step in ("do_resize", "do_rescale", "do_normalize"):
        if fields.get(step) is False:
            raise ConfigError(f"a preprocessor with {step} false is not supported", field=step)
    known: dict[str, Any] = {
        "patch_px": fields.get("patch_size"),
        "merge": fields.get("merge_size"),
        "frames": fields.get("temporal_patch_size"),
        "min_area_px": fields.get("min_pixels"),
        "max_area_px": fields.get("max_pixels"),
        "mean": fields.get("image_mean"),
        "std": fields.get("image_std"),
    }
    given: dict[str, Any] = {name: tuple(v) if isinstance(v, list) else v for name, v in known.items() if v is not None}
    return Patching(**given)


def cut_patches(image: Image.Image, rule: Patching) -> ImagePatches:
    """The patches of an image. Raises `BadImage` for one that is too small or too narrow for the reference."""
    width, height = patched_size(image.size, rule)
    resized = image.resize((width, height), Image.Resampling.BICUBIC)
    values = normalised(resized, rule.mean, rule.std)  # [height, width, C]
    columns, rows = width // rule.patch_px, height // rule.patch_px
    blocks = values.reshape(
        rows // rule.merge, rule.merge, rule.patch_px, columns // rule.merge, rule.merge, rule.patch_px, -1
    ).transpose(0, 3, 1, 4, 6, 2, 5)  # [rows / M, columns / M, M, M, C, S, S]
    flat = blocks.reshape(rows * columns, -1, 1, rule.patch_px**2)
    patches = np.repeat(flat, rule.frames, axis=2).reshape(rows * columns, -1)  # [N, C * F * S * S]
    return ImagePatches(
        patches=patches,
        size_px=image.size,
        grid=(columns, rows),
        token_grid=(columns // rule.merge, rows // rule.merge),
    )


def patched_size(size: Size, rule: Patching) -> Size:
    """The size in whole units nearest to `size`, its area within the bounds, its shape kept as far as they allow."""
    width, height = size
    unit = rule.unit_px
    if min(size) < unit:
        text = f"the image is {width} x {height} pixels; this model needs at least {unit} on each side"
        raise BadImage(text, field="image")
    if max(size) / min(size) > MAX_ASPECT_RATIO:
        text = f"the image is {width} x {height} pixels; this model takes sides of at most {MAX_ASPECT_RATIO} to 1"
        raise BadImage(text, field="image")
    fitted = round(width / unit) * unit, round(height / unit) * unit  # halves to even, as the reference rounds
    if fitted[0] * fitted[1] > rule.max_area_px:
        shrink = math.sqrt(width * height / rule.max_area_px)
        return _shrunk(width, shrink, unit), _shrunk(height, shrink, unit)
    if fitted[0] * fitted[1] < rule.min_area_px:
        grow = math.sqrt(rule.min_area_px / (width * height))
        return math.ceil(width * grow / unit) * unit, math.ceil(height * grow / unit) * unit
    return fitted


def _shrunk(side: int, shrink: float, unit: int) -> int:
    return max(unit, math.floor(side / shrink / unit) * unit)
