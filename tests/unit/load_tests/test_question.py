"""Questions are pictures any client could send."""

from __future__ import annotations

import base64
import io

from PIL import Image

from load_tests.question import question


def test_a_question_holds_a_picture_and_a_text() -> None:
    asked = question(3)
    with Image.open(io.BytesIO(asked.png)) as picture:
        assert (picture.format, picture.size) == ("PNG", (192, 96))
    assert asked.text
    assert base64.b64decode(asked.data_url.removeprefix("data:image/png;base64,")) == asked.png


def test_the_same_number_asks_the_same_and_another_number_something_else() -> None:
    assert question(1) == question(1)
    assert question(1).png != question(4).png
