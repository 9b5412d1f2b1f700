"""Decoding under limits, and the tiling rules of LLaVA's any-resolution images."""

from __future__ import annotations

import io
import struct
import zlib

import numpy as np
import pytest
from PIL import Image

from seer_core.errors import BadImage, ImageTooLarge
from seer_core.preprocess.image import (
    MAX_SQUARE_PX,
    ImageLimits,
    Tiling,
    best_canvas,
    cut_views,
    decode_image,
    square_view,
)

TILING = Tiling(tile_px=48, canvases_px=((48, 96), (96, 48), (96, 96)), side_tokens=4)
LIMITS = ImageLimits()


def encoded(image: Image.Image, form: str = "PNG") -> bytes:
    data = io.BytesIO()
    image.save(data, form)
    return data.getvalue()


def png_header(width: int, height: int) -> bytes:
    """A PNG that announces a size and holds next to nothing."""
    head = b"IHDR" + struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    chunks = struct.pack(">I", 13) + head + struct.pack(">I", zlib.crc32(head))
    return b"\x89PNG\r\n\x1a\n" + chunks + struct.pack(">I", 0) + b"IDAT" + struct.pack(">I", zlib.crc32(b"IDAT"))


@pytest.mark.parametrize("mode", ["RGB", "L", "RGBA", "P", "1", "LA", "CMYK", "I;16"])
def test_every_mode_becomes_rgb(mode: str) -> None:
    form = "TIFF" if mode == "CMYK" else "PNG"
    image = decode_image(encoded(Image.new(mode, (20, 10)), form), LIMITS)
    assert (image.mode, image.size) == ("RGB", (20, 10))


def test_sixteen_bits_keep_their_brightness() -> None:
    grey = Image.fromarray(np.full((4, 4), 0x8000, dtype=np.uint16))
    assert decode_image(encoded(grey), LIMITS).getpixel((0, 0)) == (128, 128, 128)


@pytest.mark.parametrize(("colours", "grey"), [(0, True), (2, False), (4, True), (6, False)])
def test_deep_pngs_of_every_kind_keep_their_brightness(colours: int, grey: bool) -> None:
    samples = {0: (0x8000,), 2: (0x8000, 0x4000, 0xFFFF), 4: (0x8000, 0x1000), 6: (0x8000, 0x4000, 0xFFFF, 0x1000)}
    row = b"\0" + struct.pack(f">{len(samples[colours])}H", *samples[colours])
    chunks = (
        (b"IHDR", struct.pack(">IIBBBBB", 1, 1, 16, colours, 0, 0, 0)),
        (b"IDAT", zlib.compress(row)),
        (b"IEND", b""),
    )
    body = b"".join(struct.pack(">I", len(d)) + t + d + struct.pack(">I", zlib.crc32(t + d)) for t, d in chunks)
    image = decode_image(b"\x89PNG\r\n\x1a\n" + body, LIMITS)
    assert image.getpixel((0, 0)) == ((128, 128, 128) if grey else (128, 64, 255))


@pytest.mark.parametrize("transparency", [1, bytes((0, 128))])
def test_a_palette_with_transparency_keeps_its_colours(transparency: int | bytes) -> None:
    image = Image.new("P", (4, 4), 1)
    image.putpalette([0, 0, 0, 255, 0, 0])
    data = io.BytesIO()
    image.save(data, "PNG", transparency=transparency)
    assert decode_image(data.getvalue(), LIMITS).getpixel((0, 0)) == (255, 0, 0)


def test_floating_point_pixels_are_refused() -> None:
    with pytest.raises(BadImage, match="no agreed range"):
        decode_image(encoded(Image.new("F", (4, 4), 0.5), "TIFF"), LIMITS)


def test_a_deep_ppm_keeps_its_brightness() -> None:
    data = b"P5 2 1 65535 " + bytes((0x80, 0x00, 0xFF, 0xFF))
    image = decode_image(data, LIMITS)
    assert [image.getpixel((x, 0)) for x in range(2)] == [(128, 128, 128), (255, 255, 255)]


def test_a_picture_taken_sideways_is_turned_upright() -> None:
    exif = Image.Exif()
    exif[0x0112] = 6
    data = io.BytesIO()
    Image.new("RGB", (20, 10)).save(data, "JPEG", exif=exif)
    assert decode_image(data.getvalue(), LIMITS).size == (10, 20)


@pytest.mark.parametrize("form", ["EPS", "ICO", "SPIDER"])
def test_readers_that_are_a_risk_are_not_asked(form: str) -> None:
    mode = "F" if form == "SPIDER" else "RGB"
    with pytest.raises(BadImage, match="not an image in a format"):
        decode_image(encoded(Image.new(mode, (32, 32)), form), LIMITS)


def test_whatever_a_reader_stumbles_over_is_a_bad_image(monkeypatch: pytest.MonkeyPatch) -> None:
    def stumble(*_: object, **__: object) -> None:
        raise struct.error("required argument is not an integer")

    data = encoded(Image.new("RGB", (8, 8)))
    monkeypatch.setattr("seer_core.preprocess.image.ImageOps.exif_transpose", stumble)
    with pytest.raises(BadImage, match="cannot be decoded"):
        decode_image(data, LIMITS)


@pytest.mark.parametrize("form", ["GIF", "PNG", "WEBP", "TIFF"])
def test_the_first_frame_of_an_animation_is_taken(form: str) -> None:
    frames = [Image.new("RGB", (8, 8), colour) for colour in ("red", "blue")]
    data = io.BytesIO()
    frames[0].save(data, form, save_all=True, append_images=frames[1:])
    red, _, blue = decode_image(data.getvalue(), LIMITS).getpixel((0, 0))  # type: ignore[misc]
    assert red > blue


@pytest.mark.parametrize("data", [b"", b"just some text", b"<svg xmlns='x'/>", encoded(Image.new("RGB", (9, 9)))[:40]])
def test_bytes_that_are_no_image_are_refused(data: bytes) -> None:
    with pytest.raises(BadImage):
        decode_image(data, LIMITS)


def test_a_huge_header_is_refused_before_a_pixel_is_unpacked() -> None:
    with pytest.raises(ImageTooLarge):
        decode_image(png_header(30_000, 30_000), LIMITS)


def test_size_limits_name_what_was_exceeded() -> None:
    data = encoded(Image.new("RGB", (100, 100)))
    with pytest.raises(ImageTooLarge, match="bytes"):
        decode_image(data, ImageLimits(max_bytes=10))
    with pytest.raises(ImageTooLarge, match="100 x 100"):
        decode_image(data, ImageLimits(max_pixels=9_999))


def test_views_are_the_whole_image_and_then_the_tiles_by_rows() -> None:
    image = Image.new("RGB", (96, 96), "black")
    image.paste("white", (48, 0, 96, 48))
    views = cut_views(image, TILING)
    assert views.pixels.shape == (5, 3, 48, 48)
    assert [float(view.mean()) for view in views.pixels[1:]] == [-1.0, 1.0, -1.0, -1.0]
    assert views.tokens == 16 + 8 * (8 + 1)


def test_a_tile_map_beyond_the_bound_is_counted_shrunk() -> None:
    bounded = Tiling(tile_px=48, canvases_px=((96, 96),), side_tokens=4, max_tiles=1)
    views = cut_views(Image.new("RGB", (96, 96)), bounded)
    assert (views.grid, views.map_size, views.tokens) == ((2, 2), (4, 4), 16 + 4 * (4 + 1))


def test_a_tile_map_a_little_beyond_the_bound_is_let_through() -> None:
    bounded = Tiling(tile_px=48, canvases_px=((96, 96),), side_tokens=4, max_tiles=4)
    assert cut_views(Image.new("RGB", (96, 96)), bounded).map_size == (8, 8)


def test_one_of_several_images_is_padded_to_a_grey_square_and_not_tiled() -> None:
    view = square_view(Image.new("RGB", (96, 48), "white"), TILING)
    assert view.pixels.shape == (1, 3, 48, 48)
    assert view.pixels[0, 0, 24, 24] == 1.0
    assert abs(view.pixels[0, 0, 0, 0]) < 0.01
    assert (view.size_px, view.tokens) == ((96, 48), 16 + 1)


def test_a_ribbon_is_padded_to_a_square_of_bounded_size() -> None:
    view = square_view(Image.new("RGB", (MAX_SQUARE_PX * 50, 1), "white"), TILING)
    assert (view.pixels.shape, view.size_px) == ((1, 3, 48, 48), (MAX_SQUARE_PX * 50, 1))


def test_padding_is_black_and_is_not_counted() -> None:
    views = cut_views(Image.new("RGB", (96, 24), "white"), TILING)
    assert views.grid == (2, 1)
    assert views.pixels[1, 0, 0, 0] == -1.0
    assert views.pixels[1, 0, 24, 24] == 1.0
    assert views.tokens == 16 + 2 * (8 + 1)


def test_among_equal_canvases_the_smallest_wins_and_then_the_first() -> None:
    assert best_canvas((40, 40), TILING.canvases_px) == (48, 96)
    assert best_canvas((192, 96), TILING.canvases_px) == (96, 48)


@pytest.mark.parametrize("size", [(1, 1), (1, 3000), (7, 5)])
def test_extreme_shapes_still_show_at_least_one_row(size: tuple[int, int]) -> None:
    assert cut_views(Image.new("RGB", size), TILING).tokens > 16


def test_a_sliver_thinner_than_a_token_keeps_the_whole_view_alone() -> None:
    """The reference's arithmetic cuts every row of the tile map as padding then."""
    assert cut_views(Image.new("RGB", (3000, 1)), TILING).tokens == 16
