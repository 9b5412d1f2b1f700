"""Pictures with a known truth: coloured shapes in a row, or digits to read, and questions about them.

A scene is a value; drawing it and asking about it are functions of the scene and a random generator, so the same seed
gives the same sample everywhere.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import numpy as np
from PIL import Image, ImageDraw, ImageFont

Kind = Literal["digits", "list", "detail", "count", "which", "exists"]

COLOURS: dict[str, tuple[int, int, int]] = {
    "red": (220, 40, 40),
    "green": (40, 160, 60),
    "blue": (40, 80, 220),
    "yellow": (235, 200, 30),
    "purple": (150, 60, 190),
    "black": (30, 30, 30),
}
SHAPES = ("circle", "square", "triangle", "cross", "ring", "diamond")
PAPER = (245, 245, 240)

WIDTH_PX, HEIGHT_PX = 192, 96
SHAPE_COLUMNS, SHAPE_ROWS, SHAPE_CELL_PX = 4, 2, 48
DIGIT_COLUMNS, DIGIT_ROWS, DIGIT_CELL_PX = 8, 4, 24
MAX_SHAPES = SHAPE_COLUMNS * SHAPE_ROWS
MAX_DIGITS = 30

WEIGHTS: dict[Kind, float] = {
    "digits": 0.20,
    "list": 0.09,
    "detail": 0.37,
    "count": 0.11,
    "which": 0.10,
    "exists": 0.13,
}
"""How often each kind of question is asked. The length of the answer depends on the image in the first three."""


@dataclass(frozen=True, slots=True)
class Scene:
    """Up to eight (colour, shape) pairs, or up to thirty digits, in reading order from the top left."""

    shapes: tuple[tuple[str, str], ...] = ()
    digits: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """A scene, a question and its only right answer."""

    scene: Scene
    kind: Kind
    prompt: str
    answer: str


def draw_sample(rng: np.random.Generator, kind: Kind | None = None) -> Sample:
    """A random sample; the kind too is random, by `WEIGHTS`, unless given."""
    if kind is None:
        kind = rng.choice(list(WEIGHTS), p=list(WEIGHTS.values()))
    scene = _scene(rng, kind)
    prompt, answer = _ASK[kind](rng, scene)
    return Sample(scene=scene, kind=kind, prompt=prompt, answer=answer)


def render(scene: Scene, rng: np.random.Generator) -> Image.Image:
    """The scene as a picture of 192 x 96 pixels; size and place of each thing vary by a few pixels."""
    image = Image.new("RGB", (WIDTH_PX, HEIGHT_PX), PAPER)
    draw = ImageDraw.Draw(image)
    for index, (colour, shape) in enumerate(scene.shapes):
        left, top = (index % SHAPE_COLUMNS) * SHAPE_CELL_PX, (index // SHAPE_COLUMNS) * SHAPE_CELL_PX
        centre = left + SHAPE_CELL_PX / 2 + rng.uniform(-2, 2), top + SHAPE_CELL_PX / 2 + rng.uniform(-2, 2)
        _draw_shape(draw, shape, COLOURS[colour], centre, rng.uniform(15, 19))
    for index, digit in enumerate(scene.digits):
        left, top = (index % DIGIT_COLUMNS) * DIGIT_CELL_PX, (index // DIGIT_COLUMNS) * DIGIT_CELL_PX
        place = left + DIGIT_CELL_PX / 2 + rng.uniform(-1, 1), top + DIGIT_CELL_PX / 2 + rng.uniform(-1, 1)
        draw.text(place, digit, fill=(20, 20, 20), font=_font(), anchor="mm")
    return image


def _scene(rng: np.random.Generator, kind: Kind) -> Scene:
    reads = kind == "digits" or (kind == "exists" and rng.random() < 0.5)
    if rng.random() < 0.04:
        return Scene()
    if reads != (rng.random() < 0.03):
        return Scene(digits="".join(str(d) for d in rng.integers(0, 10, rng.integers(1, MAX_DIGITS + 1))))
    count = int(rng.integers(1, MAX_SHAPES + 1))
    return Scene(shapes=tuple((str(rng.choice(list(COLOURS))), str(rng.choice(SHAPES))) for _ in range(count)))


def _ask_digits(rng: np.random.Generator, scene: Scene) -> tuple[str, str]:
    return str(rng.choice(("Read the digits.", "Which digits are shown?"))), scene.digits


def _ask_list(rng: np.random.Generator, scene: Scene) -> tuple[str, str]:
    answer = ", ".join(f"{colour} {shape}" for colour, shape in scene.shapes)
    return str(rng.choice(("List the shapes.", "Which shapes are shown?"))), answer


def _ask_detail(rng: np.random.Generator, scene: Scene) -> tuple[str, str]:
    lines = [f"I see {len(scene.shapes)}."]
    lines += [f"Shape {i} is a {colour} {shape}." for i, (colour, shape) in enumerate(scene.shapes, 1)]
    return str(rng.choice(("Describe the image in detail.", "Describe every shape."))), " ".join(lines)


def _ask_count(rng: np.random.Generator, scene: Scene) -> tuple[str, str]:
    return str(rng.choice(("How many shapes are there?", "How many shapes are shown?"))), str(len(scene.shapes))


def _ask_which(rng: np.random.Generator, scene: Scene) -> tuple[str, str]:
    place = int(rng.integers(1, min(MAX_SHAPES, len(scene.shapes) + 2) + 1))
    answer = " ".join(("a", *scene.shapes[place - 1])) if place <= len(scene.shapes) else "none"
    return f"What is shape {place}?", answer


def _ask_exists(rng: np.random.Generator, scene: Scene) -> tuple[str, str]:
    word, there = (("shape", scene.shapes), ("digit", scene.digits))[int(rng.integers(2))]
    return f"Is there a {word}?", "yes" if there else "no"


_ASK = {
    "digits": _ask_digits,
    "list": _ask_list,
    "detail": _ask_detail,
    "count": _ask_count,
    "which": _ask_which,
    "exists": _ask_exists,
}


def _draw_shape(
    draw: ImageDraw.ImageDraw, shape: str, fill: tuple[int, int, int], centre: tuple[float, float], radius: float
) -> None:
    x, y = centre
    box = (x - radius, y - radius, x + radius, y + radius)
    if shape == "circle":
        draw.ellipse(box, fill=fill)
    elif shape == "ring":
        draw.ellipse(box, outline=fill, width=7)
    elif shape == "square":
        draw.rectangle((x - 0.85 * radius, y - 0.85 * radius, x + 0.85 * radius, y + 0.85 * radius), fill=fill)
    elif shape == "cross":
        thick = radius * 0.34
        draw.rectangle((x - radius, y - thick, x + radius, y + thick), fill=fill)
        draw.rectangle((x - thick, y - radius, x + thick, y + radius), fill=fill)
    else:
        corners, turn = (3, -90) if shape == "triangle" else (4, -90)
        angles = [math.radians(turn + 360 * k / corners) for k in range(corners)]
        draw.polygon([(x + 1.1 * radius * math.cos(a), y + 1.1 * radius * math.sin(a)) for a in angles], fill=fill)


@lru_cache(maxsize=1)
def _font() -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    return ImageFont.load_default(size=24)
