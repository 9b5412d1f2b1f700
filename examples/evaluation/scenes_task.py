"""The local scenes as a task of lm-eval: its rows, and each row's picture. `seer evaluate` reads the same file."""

from __future__ import annotations

import base64
import io
import json
from pathlib import Path
from typing import Any

from datasets import Dataset
from PIL import Image

SCENES = Path(__file__).with_name("scenes.jsonl")


def load(**_: Any) -> dict[str, Dataset]:
    """All scenes, as the test split."""
    return {"test": Dataset.from_list([json.loads(line) for line in SCENES.read_text().splitlines()])}


def images(row: dict[str, Any]) -> list[Image.Image]:
    """The row's one picture."""
    return [Image.open(io.BytesIO(base64.b64decode(row["image"])))]
