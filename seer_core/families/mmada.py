"""MMaDA: LLaDA with image codes in its vocabulary; the codes come from a MAGVIT-v2 folder of its own.

Source of the facts: repository Gen-Verse/MMaDA (commit 3cdb870). Three prompt forms exist there; the default is that of
its generation script and demo, `evaluation` that of its benchmark code, whose turn end is literal text.
"""

from __future__ import annotations

import dataclasses
from types import MappingProxyType

from seer_core.errors import ConfigError
from seer_core.families.chat_forms import HEADERS
from seer_core.families.family import Family, Fields
from seer_core.families.layouts import LLADA_MARK, LLADA_NAMES, llada_decoder
from seer_core.families.llava import PROJECTOR_MARK
from seer_core.families.loops import LLADA_LOOP
from seer_core.preprocess.frame import Framing

FIRST_CODE_ID = 126349
"""Image code 0: behind the text tokenizer's last id, not behind the text rows."""

_CHAT = dataclasses.replace(
    HEADERS,
    after_header="\n",
    image_open="<|soi|>",
    image_close="<|eoi|>",
    image_break="",
    images_lead=("<|mmu|>",),
)


def _framing(fields: Fields, vision: Fields, preprocessor: Fields) -> Framing:
    """The reference crops; it squashes diagrams, charts and documents. `image_fit` under the key `seer` says which."""
    del vision, preprocessor
    fit = fields.get("seer", {}).get("image_fit", "crop")
    if fit not in ("crop", "squash"):
        raise ConfigError(f"image_fit is {fit!r}; known are crop and squash", field="image_fit")
    return Framing(fit=fit)


MMADA = Family(
    name="mmada",
    title="MMaDA",
    present=(LLADA_MARK,),
    absent=(PROJECTOR_MARK,),
    architectures=("MMadaModelLM",),
    names=LLADA_NAMES,
    template=_CHAT,
    templates=MappingProxyType(
        {"evaluation": dataclasses.replace(_CHAT, begin="", turn_end="", after_turn="<eot_id>", trims=False)}
    ),
    mask_id=126336,
    fill_id=126081,
    turn_end_id=126348,
    control_ids=MappingProxyType({"<|soi|>": 126084, "<|eoi|>": 126085, "<|mmu|>": 126089}),
    loops=MappingProxyType({"full": LLADA_LOOP, "fast": dataclasses.replace(LLADA_LOOP, stop="block_end")}),
    decoder=llada_decoder,
    sight="codes",
    image_rule=_framing,
    first_code_id=FIRST_CODE_ID,
)
