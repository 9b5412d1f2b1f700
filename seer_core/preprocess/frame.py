"""Images brought to one fixed square, for towers that see nothing else.

Legend: C channels, S side in pixels.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from PIL import Image

from seer_core.preprocess.image import Size, normalised
from seer_core.prompt import ImageFrame

MAX_SCALED_RATIO = 32
"""The longest part of an image that is scaled to be cropped, in lengths of its shorter side."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Framing:
    """The square's side, the side of the patch that becomes one token, and how an image is made square.

    `crop` scales the shorter side and cuts the middle out of the longer, `squash` scales each side by itself: documents
    and diagrams lose nothing at their edges then, but their shape.
    """

    side_px: int = 512
    patch_px: int = 16
    fit: Literal["crop", "squash"] = "crop"


def frame_image(image: Image.Image, rule: Framing) -> ImageFrame:
    """The image in its frame: bicubic, values in [-1, 1]."""
    side = rule.side_px
    framed = _cropped(image, side) if rule.fit == "crop" else image.resize((side, side), Image.Resampling.BICUBIC)
    pixels = normalised(framed, (0.5,), (0.5,)).transpose(2, 0, 1)  # [C, S, S]
    return ImageFrame(pixels=pixels, size_px=image.size, tokens=(side // rule.patch_px) ** 2)


def _cropped(image: Image.Image, side: int) -> Image.Image:
    # Of a ribbon only the middle is scaled: scaled whole, it could fill the memory.
    shorter = min(image.size)
    image = _middle(
        image, (min(image.width, MAX_SCALED_RATIO * shorter), min(image.height, MAX_SCALED_RATIO * shorter))
    )
    scaled = int(side * image.width / shorter), int(side * image.height / shorter)
    return _middle(image.resize(scaled, Image.Resampling.BICUBIC), (side, side))


def _middle(image: Image.Image, size: Size) -> Image.Image:
    # Halves are rounded to even, as the reference does.
    left, top = round((image.width - size[0]) / 2), round((image.height - size[1]) / 2)
    return image.crop((left, top, left + size[0], top + size[1]))
