"""One name for the families' ways to prepare an image: the rule says which."""

from __future__ import annotations

from PIL import Image

from seer_core.preprocess.frame import Framing, frame_image
from seer_core.preprocess.image import Tiling, cut_views, square_view
from seer_core.preprocess.patches import Patching, cut_patches
from seer_core.prompt import PreparedImage

ImageRule = Tiling | Patching | Framing


def prepare_image(image: Image.Image, rule: ImageRule, *, alone: bool = True) -> PreparedImage:
    """`image` as the tower takes it; `alone` says that it is the prompt's only one, which some rules tile finer.

    Raises `BadImage` for a size that the rule does not take.
    """
    if isinstance(rule, Patching):
        return cut_patches(image, rule)
    if isinstance(rule, Framing):
        return frame_image(image, rule)
    return cut_views(image, rule) if alone or not rule.pads_several else square_view(image, rule)
