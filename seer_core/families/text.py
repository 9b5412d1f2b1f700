"""LLaDA and Dream without images: the decoders that the multimodal families were made from.

Source of the facts: the published instruct checkpoints' config fields and tensor names, which the multimodal families
keep. No reference run stands behind these two pages.
"""

from __future__ import annotations

import dataclasses
from functools import partial
from types import MappingProxyType

from seer_core.families.chat_forms import CHATML, HEADERS
from seer_core.families.dimple import VISUAL_MARK
from seer_core.families.family import Family
from seer_core.families.layouts import (
    HF_BIAS_MARK,
    HF_MARK,
    HF_NAMES,
    LLADA_MARK,
    LLADA_NAMES,
    hf_decoder,
    llada_decoder,
)
from seer_core.families.llava import PROJECTOR_MARK
from seer_core.families.loops import DREAM_LOOP, LLADA_LOOP

LLADA = Family(
    name="llada",
    title="LLaDA (text)",
    present=(LLADA_MARK,),
    absent=(PROJECTOR_MARK,),
    architectures=("LLaDAModelLM",),
    names=LLADA_NAMES,
    template=HEADERS,
    mask_id=126336,
    fill_id=126081,
    turn_end_id=126348,
    loops=MappingProxyType({"full": LLADA_LOOP}),
    decoder=llada_decoder,
)

DREAM = Family(
    name="dream",
    title="Dream (text)",
    present=(HF_MARK, HF_BIAS_MARK),
    absent=(PROJECTOR_MARK, VISUAL_MARK),
    architectures=("DreamModel",),
    names=HF_NAMES,
    template=dataclasses.replace(CHATML, default_system="You are a helpful assistant."),
    mask_id=151666,
    fill_id=151643,
    turn_end_id=151645,
    loops=MappingProxyType({"full": DREAM_LOOP}),
    decoder=partial(hf_decoder, qkv_bias=True),
)
