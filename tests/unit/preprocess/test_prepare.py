"""The rule decides how an image is prepared."""

from __future__ import annotations

import dataclasses

from PIL import Image

from seer_core.preprocess.frame import Framing
from seer_core.preprocess.image import Tiling
from seer_core.preprocess.patches import Patching
from seer_core.preprocess.prepare import prepare_image
from seer_core.prompt import ImageFrame, ImagePatches, ImageViews

IMAGE = Image.new("RGB", (96, 48))
TILING = Tiling(tile_px=48, canvases_px=((96, 48), (96, 96)), side_tokens=4)


def test_each_rule_makes_its_own_kind() -> None:
    kinds = [type(prepare_image(IMAGE, rule)) for rule in (TILING, Patching(), Framing())]
    assert kinds == [ImageViews, ImagePatches, ImageFrame]


def test_one_of_several_images_is_tiled_unless_the_rule_pads_it() -> None:
    padding = dataclasses.replace(TILING, pads_several=True)
    grids = [
        prepared.grid
        for rule in (TILING, padding)
        for alone in (True, False)
        if isinstance(prepared := prepare_image(IMAGE, rule, alone=alone), ImageViews)
    ]
    assert grids == [(2, 1), (2, 1), (2, 1), (0, 0)]
