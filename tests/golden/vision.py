"""What the tests of the families' image sides share: the cases with an image, and their prompts."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np

from seer_core.families.registry import inspect
from seer_core.preprocess.image import ImageLimits, decode_image
from seer_core.preprocess.prepare import prepare_image
from seer_core.prompt import PreparedImage, Prompt
from tests.golden.conftest import CASES, case_names, load_case

PLACEHOLDER = -200


def image_cases(family: str) -> list[str]:
    """Names of the generation cases that have an image."""
    return [name for name in case_names(family) if load_case(family, name)["image"] is not None]


def image_of(file: str, checkpoint: Path) -> PreparedImage:
    """An image file as the checkpoint's own rule prepares it."""
    rule = inspect(checkpoint).image_rule
    assert rule is not None
    return prepare_image(decode_image((CASES / file).read_bytes(), ImageLimits()), rule)


def prompt_of(case: dict[str, Any], checkpoint: Path) -> Prompt:
    """A case's prompt. Where the reference writes one placeholder per image token, ours has one per image."""
    image = image_of(case["image"]["file"], checkpoint)
    return prompt_with([image], one_placeholder(case["prompt_ids"], inspect(checkpoint).fields), case["prompt_length"])


def prompt_with(images: Sequence[PreparedImage], ids: Sequence[int], length: int) -> Prompt:
    return Prompt(ids=np.array(ids), images=tuple(images), length_tokens=length)


def one_placeholder(ids: Sequence[int], fields: dict[str, Any]) -> list[int]:
    """Every run of image tokens as one placeholder of ours."""
    of_image = {PLACEHOLDER, fields.get("image_token_id", PLACEHOLDER)}
    return [token for key, run in groupby(ids) for token in ([PLACEHOLDER] if key in of_image else run)]
