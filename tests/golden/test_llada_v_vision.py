"""LLaDA-V's images against the reference: tiles, token counts and pixels."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from seer_core.families.registry import inspect
from seer_core.preprocess.image import ImageLimits, Tiling, cut_views, decode_image
from seer_core.prompt import ImageViews
from tests.golden.conftest import CASES, load_numbers

FAMILY = "llada_v"
RECORDED = json.loads((CASES / FAMILY / "preprocess.json").read_text())


@pytest.fixture(scope="module")
def tiling(golden_checkpoint: Callable[[str], Path]) -> Tiling:
    rule = inspect(golden_checkpoint(FAMILY)).image_rule
    assert isinstance(rule, Tiling)
    return rule


@cache
def views_of(file: str, tiling: Tiling) -> ImageViews:
    return cut_views(decode_image((CASES / file).read_bytes(), ImageLimits()), tiling)


def facts(views: ImageViews) -> dict[str, Any]:
    columns, rows = views.map_size
    return {
        "size": list(views.size_px),
        "grid": list(views.grid),
        "tiles": len(views.pixels),
        "rows": rows,
        "columns": columns,
        "image_tokens": views.tokens,
    }


@pytest.mark.parametrize("row", RECORDED["sizes"], ids=lambda row: "x".join(map(str, row["size"])))
def test_image_sizes_give_the_references_tiles_and_tokens(row: dict[str, Any], tiling: Tiling) -> None:
    assert facts(cut_views(Image.new("RGB", tuple(row["size"])), tiling)) == row


@pytest.mark.parametrize("row", RECORDED["images"], ids=lambda row: Path(row["file"]).stem)
def test_every_image_mode_gives_the_references_pixels(row: dict[str, Any], tiling: Tiling) -> None:
    views = views_of(row["file"], tiling)
    assert {**facts(views), "file": row["file"], "mode": row["mode"]} == row
    numbers, stem = load_numbers(FAMILY, "preprocess"), Path(row["file"]).stem
    np.testing.assert_allclose(views.pixels[..., ::32, ::32], numbers[f"{stem}.pixels_every32"], atol=1e-6)
    np.testing.assert_allclose(views.pixels.sum((-1, -2), dtype=np.float64), numbers[f"{stem}.pixels_sum"], atol=0.05)
    np.testing.assert_allclose(np.abs(views.pixels).max((-1, -2)), numbers[f"{stem}.pixels_absmax"], atol=1e-6)
