"""What makes a checkpoint belong to a family: names, ids, sizes, template, images, loop. Facts only, no torch."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from seer_core.config import DecoderConfig, LoopFacts
from seer_core.preprocess.prepare import ImageRule
from seer_core.preprocess.template import ChatTemplate

Fields = Mapping[str, Any]
"""A checkpoint's config.json."""

ImageRuleReader = Callable[[Fields, Fields, Fields], ImageRule]
"""The rule by which images are prepared, from config.json, the tower's config and preprocessor_config.json."""

Sight = Literal["siglip", "qwen_vl", "codes", "none"]
"""How a family sees: SigLIP tiles, Qwen2.5-VL's tower, image codes in the vocabulary, or not at all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """One family's facts.

    A checkpoint belongs to it when it holds the tensors `present` and none of `absent`, and its config.json names one
    of `architectures`. `names` maps checkpoint tensors to the places in the model.

    `mask_id`, `fill_id` and `turn_end_id` are used where config.json does not say otherwise; turn end and fill both end
    an answer. `control_ids` are control tokens that the family knows by id while its tokenizer names them otherwise.
    `newline_bfloat16` says that the reference rounds the image newline to bfloat16 whatever the dtype of the rest.
    `loops` are the reference's ways to denoise, by name; the first is the default. `templates` are further prompt forms
    by name. `image_rule` is None for a family that sees nothing. Where `sight` is `codes`, image code 0 is the token
    `first_code_id`.
    """

    name: str
    title: str
    present: tuple[str, ...]
    absent: tuple[str, ...] = ()
    architectures: tuple[str, ...]
    names: tuple[tuple[str, str], ...]
    template: ChatTemplate
    templates: Mapping[str, ChatTemplate] = field(default_factory=dict)
    mask_id: int
    fill_id: int
    turn_end_id: int
    control_ids: Mapping[str, int] = field(default_factory=dict)
    placeholder_id: int = -200
    newline_bfloat16: bool = False
    loops: Mapping[str, LoopFacts]
    decoder: Callable[[Fields], DecoderConfig]
    sight: Sight = "none"
    image_rule: ImageRuleReader | None = None
    first_code_id: int = 0

    @property
    def loop(self) -> LoopFacts:
        """The default loop."""
        return next(iter(self.loops.values()))
