"""Images brought to one square, by cropping or squashing."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image

from seer_core.preprocess.frame import MAX_SCALED_RATIO, Framing, frame_image

CROP = Framing(side_px=64)
SQUASH = Framing(side_px=64, fit="squash")


def striped(width: int, height: int) -> Image.Image:
    """White in the middle third of the longer side, black at its ends."""
    image = Image.new("RGB", (width, height))
    if width > height:
        image.paste("white", (width // 3, 0, 2 * width // 3, height))
    else:
        image.paste("white", (0, height // 3, width, 2 * height // 3))
    return image


@pytest.mark.parametrize("size", [(300, 60), (60, 300)])
def test_a_crop_keeps_the_middle_of_the_longer_side(size: tuple[int, int]) -> None:
    assert frame_image(striped(*size), CROP).pixels.mean() > 0.99


@pytest.mark.parametrize("size", [(300, 60), (60, 300)])
def test_a_squash_keeps_the_ends(size: tuple[int, int]) -> None:
    assert frame_image(striped(*size), SQUASH).pixels.mean() == pytest.approx(-1 / 3, abs=0.05)


def test_every_image_fills_the_same_number_of_positions() -> None:
    images = [frame_image(Image.new("RGB", size), CROP) for size in ((1, 1), (640, 200), (64, 64))]
    assert {image.tokens for image in images} == {16}
    assert {image.pixels.shape for image in images} == {(3, 64, 64)}
    assert frame_image(Image.new("RGB", (640, 200)), Framing()).tokens == 1024


def test_a_picture_that_fits_is_only_normalised() -> None:
    values = np.random.default_rng(0).integers(0, 256, (64, 64, 3), dtype=np.uint8)
    pixels = frame_image(Image.fromarray(values), CROP).pixels
    np.testing.assert_allclose(pixels, values.transpose(2, 0, 1) / 127.5 - 1, atol=1e-6)


@pytest.mark.parametrize("size", [(1_000_000, 1), (1, 1_000_000), (2 * MAX_SCALED_RATIO * 9, 9)])
def test_a_ribbon_shows_its_middle_and_does_not_fill_the_memory(size: tuple[int, int]) -> None:
    assert frame_image(striped(*size), CROP).pixels.mean() > 0.99
