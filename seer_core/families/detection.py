"""Which family a checkpoint is: its tensor names first, then the architecture that config.json names.

`model_type` is not asked: two families share one. An autoregressive model may have the very tensors of a family, so an
architecture that is named must fit too; whoever knows better names the family.
"""

from __future__ import annotations

from collections.abc import Collection
from difflib import get_close_matches
from itertools import islice
from pathlib import Path

from seer_core.errors import ConfigError, WeightsError
from seer_core.families.dimple import DIMPLE
from seer_core.families.family import Family, Fields
from seer_core.families.lavida import LAVIDA_DREAM, LAVIDA_LLADA
from seer_core.families.llada_v import LLADA_V
from seer_core.families.mmada import MMADA
from seer_core.families.text import DREAM, LLADA

FAMILIES = (LAVIDA_LLADA, LAVIDA_DREAM, LLADA_V, MMADA, DIMPLE, LLADA, DREAM)


def family_named(name: str) -> Family:
    """The family of that name; raises `ConfigError` with the nearest known one."""
    known = {family.name: family for family in FAMILIES}
    if name in known:
        return known[name]
    near = get_close_matches(name, known, n=1)
    hint = f"; did you mean {near[0]!r}?" if near else ""
    raise ConfigError(f"unknown family {name!r}, known are {', '.join(known)}{hint}", field="family")


def detect(folder: Path, fields: Fields, tensors: Collection[str], wanted: str | None = None) -> Family:
    """The family of a checkpoint, or `wanted` where that is given and its tensors are there.

    Raises `WeightsError` that says what was seen and what is supported, `ConfigError` for an unknown `wanted`.
    """
    held = set(tensors)
    if wanted is not None:
        family = family_named(wanted)
        if not _fits(family, held):
            raise WeightsError(f"{folder} is no {family.name} checkpoint: {_mismatch(family, held)}")
        return family
    fitting = [family for family in FAMILIES if _fits(family, held)]
    architectures = set(fields.get("architectures") or ())
    named = [family for family in FAMILIES if architectures & set(family.architectures)]
    if architectures:
        fitting = [family for family in fitting if family in named]
    if len(fitting) == 1:
        return fitting[0]
    if named and not fitting:
        text = f"{folder} names {named[0].architectures[0]} and is no {named[0].name} checkpoint"
        raise WeightsError(f"{text}: {_mismatch(named[0], held)}")
    raise WeightsError(_unknown(folder, fields, tensors, fitting))


def _fits(family: Family, held: set[str]) -> bool:
    return held.issuperset(family.present) and held.isdisjoint(family.absent)


def _mismatch(family: Family, held: set[str]) -> str:
    missing = [name for name in family.present if name not in held]
    return f"it lacks {missing[0]}" if missing else f"it holds {next(name for name in family.absent if name in held)}"


def _unknown(folder: Path, fields: Fields, tensors: Collection[str], fitting: list[Family]) -> str:
    seen = (
        f"architectures {fields.get('architectures')}, model_type {fields.get('model_type')!r}, "
        f"{len(tensors)} tensors such as {', '.join(islice(sorted(tensors), 3)) or 'none'}"
    )
    if fitting:
        could = " or ".join(family.name for family in fitting)
        remedy = "say which with the option `family`, or as `family` under the key `seer` of config.json"
        return f"{folder} could be {could}: {seen}; {remedy}"
    known = ", ".join(f"{family.name} ({family.architectures[0]})" for family in FAMILIES)
    return f"{folder} is no known family: {seen}; supported: {known}"
