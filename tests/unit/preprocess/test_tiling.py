"""The spellings of a tiling rule in config files."""

from __future__ import annotations

import pytest

from seer_core.errors import ConfigError
from seer_core.preprocess.tiling import read_canvases, read_max_tiles, read_tiling

VISION = {"image_size": 384, "patch_size": 14}


def test_a_range_of_tiles_and_its_list_are_the_same_canvases() -> None:
    listed = [[384 * columns, 384 * rows] for columns in range(1, 7) for rows in range(1, 7)]
    assert read_canvases("(1x1),...,(6x6)", 384) == read_canvases(listed, 384)


def test_a_list_may_hide_in_a_string() -> None:
    assert read_canvases("[(384, 768), (768, 384)]", 384) == ((384, 768), (768, 384))


@pytest.mark.parametrize("grid", [None, 3, "", "nonsense", "[]", [[384]], [[384, 400]], [[0, 384]], [["a", "b"]]])
def test_canvases_that_make_no_sense_are_refused_by_name(grid: object) -> None:
    with pytest.raises(ConfigError, match="image_grid_pinpoints"):
        read_canvases(grid, 384)


def test_the_bound_is_read_from_the_aspect_rule() -> None:
    assert (read_max_tiles("anyres"), read_max_tiles("anyres_max_4"), read_max_tiles("anyres_max_12")) == (None, 4, 12)


@pytest.mark.parametrize("aspect", ["pad", "anyres_max_", "anyres_max_0", "anyres_mix", ""])
def test_other_aspect_rules_are_refused(aspect: str) -> None:
    with pytest.raises(ConfigError, match="image_aspect_ratio"):
        read_max_tiles(aspect)


@pytest.mark.parametrize(("pooled", "side"), [(False, 27), (True, 14)])
def test_a_tile_has_its_towers_patches_pooled_or_not(pooled: bool, side: int) -> None:
    fields = {"image_grid_pinpoints": [[384, 384]], "image_aspect_ratio": "anyres_max_4"}
    tiling = read_tiling(fields, VISION, pooled=pooled)
    assert (tiling.tile_px, tiling.side_tokens, tiling.max_tiles) == (384, side, 4)
