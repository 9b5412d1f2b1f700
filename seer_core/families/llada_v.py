"""LLaDA-V: LLaDA in Llama's layout behind SigLIP2 tiles; full attention, banned tokens, an early exit.

Source of the facts: repository ML-GSAI/LLaDA-V (commit 2252769).
"""

from __future__ import annotations

import dataclasses
from types import MappingProxyType

from seer_core.config import DecoderConfig
from seer_core.families.chat_forms import HEADERS
from seer_core.families.family import Family, Fields
from seer_core.families.layouts import HF_BIAS_MARK, HF_MARK, HF_NAMES, hf_decoder
from seer_core.families.llava import LLAVA_NAMES, PROJECTOR_MARK, SYSTEM, whole_tiling
from seer_core.families.loops import LLADA_LOOP

TOKENIZER_LENGTH = 126349
"""The reference cuts embedding and head to the length of its tokenizer."""

BANNED = frozenset((126080, 126081, 126346, 126347))
"""Begin and end of text and both header tokens: the fill token never comes out, so answers are padded by turn ends."""


def _decoder(fields: Fields) -> DecoderConfig:
    config = hf_decoder(fields, qkv_bias=False, max_positions=2048)
    # Where config.json does not say that no patch token was added, the reference adds one.
    length = TOKENIZER_LENGTH + bool(fields.get("mm_use_im_patch_token", True))
    spare = max(0, config.vocab_size - length)
    return dataclasses.replace(config, vocab_size=config.vocab_size - spare, spare_rows=spare)


LLADA_V = Family(
    name="llada_v",
    title="LLaDA-V",
    present=(HF_MARK, PROJECTOR_MARK),
    absent=(HF_BIAS_MARK,),
    architectures=("LlavaLLaDAModelLM",),
    names=(*HF_NAMES, *LLAVA_NAMES),
    template=dataclasses.replace(HEADERS, default_system=SYSTEM),
    mask_id=126336,
    fill_id=126081,
    turn_end_id=126348,
    loops=MappingProxyType(
        {"full": dataclasses.replace(LLADA_LOOP, banned_ids=BANNED, stop="scan")},
    ),
    decoder=_decoder,
    sight="siglip",
    image_rule=whole_tiling,
)
