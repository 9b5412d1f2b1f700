"""Images at their own resolution: sizes in whole units, patches in the order in which they merge."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image

from seer_core.errors import BadImage, ConfigError
from seer_core.preprocess.patches import Patching, cut_patches, patched_size, read_patching

PLAIN = Patching(mean=(0.0, 0.0, 0.0), std=(1.0, 1.0, 1.0))


def test_sides_are_rounded_to_whole_units_halves_to_even() -> None:
    assert patched_size((300, 210), PLAIN) == (308, 224)
    assert patched_size((238, 294), PLAIN) == (224, 280)


@pytest.mark.parametrize("size", [(4000, 3000), (200, 6000), (28, 5600), (10_000, 60)])
def test_an_area_never_leaves_its_bounds_by_more_than_the_shape_needs(size: tuple[int, int]) -> None:
    width, height = patched_size(size, PLAIN)
    assert width % 28 == height % 28 == 0
    assert width * height <= PLAIN.max_area_px


def test_a_small_image_is_grown_to_the_least_area() -> None:
    assert patched_size((30, 30), PLAIN) == (56, 56)


def test_a_tight_bound_still_leaves_one_unit_a_side() -> None:
    assert patched_size((5600, 28), Patching(max_area_px=28 * 28)) == (392, 28)


@pytest.mark.parametrize("size", [(27, 500), (500, 27)])
def test_a_side_shorter_than_a_unit_is_refused(size: tuple[int, int]) -> None:
    with pytest.raises(BadImage, match="at least 28"):
        patched_size(size, PLAIN)


def test_a_ribbon_is_refused() -> None:
    with pytest.raises(BadImage, match="200 to 1"):
        patched_size((28 * 201, 28), PLAIN)


def test_patches_of_one_token_follow_each_other_and_tokens_run_by_rows() -> None:
    pixels = np.arange(8, dtype=np.uint8).reshape(2, 4).repeat(14, 0).repeat(14, 1)
    image = cut_patches(Image.fromarray(pixels).convert("RGB"), Patching(mean=(0,) * 3, std=(1,) * 3, min_area_px=1))
    assert (image.grid, image.token_grid, image.tokens) == ((4, 2), (2, 1), 2)
    assert np.rint(image.patches[:, 0] * 255).tolist() == [0, 1, 4, 5, 2, 3, 6, 7]


def test_a_patch_holds_channels_then_frames_then_pixels() -> None:
    image = cut_patches(Image.new("RGB", (56, 56), (255, 0, 51)), PLAIN)
    patch = image.patches[0].reshape(3, 2, 14, 14)
    np.testing.assert_allclose(patch.mean((1, 2, 3)), [1.0, 0.0, 0.2], rtol=1e-6)


def test_a_rule_is_read_with_defaults_for_what_is_missing() -> None:
    rule = read_patching({"min_pixels": 3136, "max_pixels": 1003520, "image_mean": [0.5, 0.5, 0.5], "merge_size": 2})
    assert (rule.max_area_px, rule.mean, rule.std) == (1003520, (0.5, 0.5, 0.5), Patching().std)


def test_a_step_switched_off_is_refused() -> None:
    with pytest.raises(ConfigError, match="do_resize"):
        read_patching({"do_resize": False})
