"""What makes a checkpoint belong to a family: names, ids, sizes, template, tiling. Facts only, no torch."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from seer_core.config import DecoderConfig
from seer_core.preprocess.image import Tiling
from seer_core.preprocess.template import HeaderTemplate

Fields = Mapping[str, Any]
"""A checkpoint's config.json."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """One family's facts.

    `names` maps checkpoint tensors to the places in `VisionLanguageModel`; `marker` is a tensor name only this layout
    has. `prefix_lm` says that prompt positions attend only to the prompt, so that its keys and values may be kept.
    `turn_end_id` and the config's end id both end an answer. `newline_bfloat16` says that the reference rounds the
    image newline to bfloat16 whatever the dtype of the rest.
    """

    name: str
    marker: str
    architectures: tuple[str, ...]
    names: tuple[tuple[str, str], ...]
    template: HeaderTemplate
    turn_end_id: int
    placeholder_id: int
    prefix_lm: bool
    newline_bfloat16: bool
    block_length: int
    decoder: Callable[[Fields], DecoderConfig]
    tiling: Callable[[Fields, Fields], Tiling]
