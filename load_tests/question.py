"""What is asked: a picture of coloured shapes, drawn here, and a question. Nobody checks if the answer is right."""

from __future__ import annotations

import base64
import io
import random
from dataclasses import dataclass

from PIL import Image, ImageDraw

COLOURS = ((220, 40, 40), (40, 160, 60), (40, 80, 220), (235, 200, 30), (150, 60, 190), (30, 30, 30))
PAPER = (245, 245, 240)
CELL_PX, COLUMNS, ROWS = 48, 4, 2
TEXTS = ("List the shapes.", "Describe the image in detail.", "Which shapes are shown?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """`png` is an encoded picture."""

    png: bytes
    text: str

    @property
    def data_url(self) -> str:
        return f"data:image/png;base64,{base64.b64encode(self.png).decode()}"


def question(number: int) -> Question:
    """The same number gives the same question."""
    dice = random.Random(number)
    picture = Image.new("RGB", (CELL_PX * COLUMNS, CELL_PX * ROWS), PAPER)
    brush = ImageDraw.Draw(picture)
    for cell in range(dice.randint(2, COLUMNS * ROWS)):
        left, top = cell % COLUMNS * CELL_PX, cell // COLUMNS * CELL_PX
        box = (left + 8, top + 8, left + CELL_PX - 8, top + CELL_PX - 8)
        draw = dice.choice((brush.ellipse, brush.rectangle))
        draw(box, fill=dice.choice(COLOURS))
    file = io.BytesIO()
    picture.save(file, "PNG")
    return Question(png=file.getvalue(), text=TEXTS[number % len(TEXTS)])
