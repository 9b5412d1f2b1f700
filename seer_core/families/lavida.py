"""LaViDa over LLaDA and over Dream: SigLIP views pooled 2x2, LLaVA any-resolution tiles, prefix-LM cache.

Source of the facts: repository jacklishufan/LaViDa (commit 284ef5c). Published folders may name the language model's
class in place of LaViDa's own; the projector among the tensors tells them from the text checkpoints.
"""

from __future__ import annotations

import dataclasses
from functools import partial
from types import MappingProxyType

from seer_core.families.chat_forms import CHATML, HEADERS
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
from seer_core.families.llava import LLAVA_NAMES, PROJECTOR_MARK, SYSTEM, pooled_tiling
from seer_core.families.loops import DREAM_LOOP, LLADA_LOOP

# What its golden cases show, and the default of transformers' generation config, which the reference inherits.
_DREAM = dataclasses.replace(DREAM_LOOP, remasking="margin", top_k=50)

LAVIDA_LLADA = Family(
    name="lavida_llada",
    title="LaViDa (LLaDA)",
    present=(LLADA_MARK, PROJECTOR_MARK),
    architectures=("LlavaLladaForMaskedDiffusion", "LLaDAModelLM"),
    names=(*LLADA_NAMES, *LLAVA_NAMES),
    template=dataclasses.replace(HEADERS, default_system=SYSTEM),
    mask_id=126336,
    fill_id=126081,
    turn_end_id=126348,
    newline_bfloat16=True,
    loops=MappingProxyType({"prefix": dataclasses.replace(LLADA_LOOP, prefix_lm=True), "full": LLADA_LOOP}),
    decoder=llada_decoder,
    sight="siglip",
    image_rule=pooled_tiling,
)

LAVIDA_DREAM = Family(
    name="lavida_dream",
    title="LaViDa (Dream)",
    present=(HF_MARK, HF_BIAS_MARK, PROJECTOR_MARK),
    architectures=("LlavaDreamForMaskedDiffusion", "DreamModel"),
    names=(*HF_NAMES, *LLAVA_NAMES),
    template=dataclasses.replace(CHATML, default_system=SYSTEM, image_break="\n"),
    mask_id=151666,
    fill_id=151643,
    turn_end_id=151645,
    newline_bfloat16=True,
    loops=MappingProxyType(
        {
            "prefix": dataclasses.replace(_DREAM, prefix_lm=True, first_token_from_prompt=True),
            "full": _DREAM,
        }
    ),
    decoder=partial(hf_decoder, qkv_bias=True),
    sight="siglip",
    image_rule=pooled_tiling,
)
