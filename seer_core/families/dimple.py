"""Dimple: Dream's decoder with positions in three rows, behind Qwen2.5-VL's tower.

Source of the facts: repository yu-rp/Dimple (commit 848f132). Its answers end in fill tokens; training
adds no turn end.
"""

from __future__ import annotations

import dataclasses
from types import MappingProxyType

from seer_core.config import DecoderConfig
from seer_core.errors import ConfigError
from seer_core.families.chat_forms import CHATML
from seer_core.families.family import Family, Fields
from seer_core.families.layouts import HF_BIAS_MARK, HF_MARK, HF_NAMES, hf_decoder
from seer_core.families.llava import PROJECTOR_MARK
from seer_core.families.loops import DREAM_LOOP
from seer_core.preprocess.patches import Patching, read_patching

VISUAL_MARK = "visual.patch_embed.proj.weight"
SECTIONS = (16, 24, 24)
TOWER_PATCHES = (("patch_size", 14), ("spatial_merge_size", 2), ("temporal_patch_size", 2))
"""Fields of `vision_config` that the preprocessor must agree with, and their defaults."""

_CACHED = dataclasses.replace(DREAM_LOOP, cache_after_first_step=True, remasking="low_confidence")


def _decoder(fields: Fields) -> DecoderConfig:
    stated = fields.get("mrope_section") or (fields.get("rope_scaling") or {}).get("mrope_section")
    return hf_decoder({**fields, "mrope_section": stated or SECTIONS}, qkv_bias=True)


def _patching(fields: Fields, vision: Fields, preprocessor: Fields) -> Patching:
    del fields
    rule = read_patching(preprocessor)
    cut, taken = (rule.patch_px, rule.merge, rule.frames), tuple(vision.get(*entry) for entry in TOWER_PATCHES)
    if cut != taken:
        raise ConfigError(f"preprocessor_config.json cuts patches {cut}, the tower takes {taken}", field="patch_size")
    return rule


DIMPLE = Family(
    name="dimple",
    title="Dimple",
    present=(HF_MARK, HF_BIAS_MARK, VISUAL_MARK),
    absent=(PROJECTOR_MARK,),
    architectures=("DimpleModel",),
    names=(*HF_NAMES, (r"visual\.(.+)", r"tower.visual.\1"), (r"img_projector\.(.+)", r"projector.\1")),
    template=dataclasses.replace(
        CHATML,
        default_system="You are a helpful assistant.",
        image_open="<|vision_start|>",
        image_close="<|vision_end|>",
    ),
    mask_id=151666,
    fill_id=151643,
    turn_end_id=151645,
    loops=MappingProxyType(
        {
            "dim": dataclasses.replace(_CACHED, schedule="share", commit="confident", commit_threshold=0.95),
            # What its golden cases show, and the default of transformers' generation config; `dim` ranks unfiltered.
            "dream": dataclasses.replace(_CACHED, top_k=50),
        }
    ),
    decoder=_decoder,
    sight="qwen_vl",
    image_rule=_patching,
)
