"""The families and what is known of each, as a table."""

from __future__ import annotations

from seer_core.families.detection import FAMILIES
from seer_core.families.family import Family

SIGHTS = {
    "siglip": "SigLIP tiles",
    "qwen_vl": "Qwen2.5-VL tower, any resolution",
    "codes": "MAGVIT-v2 codes",
    "none": "none",
}


def family_rows() -> list[dict[str, object]]:
    """One row per family: its name, what it is, how it sees, its loops (the default first), its prompt forms."""
    return [family_row(family) for family in FAMILIES]


def family_row(family: Family) -> dict[str, object]:
    return {
        "name": family.name,
        "title": family.title,
        "architectures": list(family.architectures),
        "images": SIGHTS[family.sight],
        "loops": list(family.loops),
        "prompt_cache": prompt_cache(family),
        "logits_shifted": family.loop.shifted,
        "templates": ["default", *family.templates],
    }


def prompt_cache(family: Family) -> str:
    """Whether and from when the prompt's keys and values are kept in the default loop."""
    if family.loop.prefix_lm:
        return "before the first step"
    return "after the first step" if family.loop.cache_after_first_step else "none"
