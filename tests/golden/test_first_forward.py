"""Every family's decoder against its own reference at the first forward of every case whose prompt is ids alone."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from seer_core.families.registry import inspect, load_decoder
from tests.golden.conftest import case_names, load_case, load_numbers
from tests.golden.first_forward import check_first_forward

FAMILIES = ("dimple", "lavida_dream", "llada_v", "mmada")
CASES = [
    (family, name) for family in FAMILIES for name in case_names(family) if load_case(family, name)["image"] is None
]
CUT = [(family, name) for family, name in CASES if "logits_columns_kept" in load_case(family, name)["settings"]]


@pytest.mark.parametrize(("family", "name"), CASES)
def test_every_layer_and_the_logits_are_the_references(
    family: str, name: str, checkpoint_of: Callable[[dict[str, Any]], Path]
) -> None:
    case = load_case(family, name)
    decoder = load_decoder(checkpoint_of(case["weights"]))
    check_first_forward(decoder, case, load_numbers(family, name))


@pytest.mark.parametrize(("family", "name"), CASES)
def test_the_checkpoint_is_known_by_its_tensors_and_has_the_references_ids(
    family: str, name: str, golden_checkpoint: Callable[[str], Path]
) -> None:
    info, ids = inspect(golden_checkpoint(family)), load_case(family, name)["ids"]
    assert info.family.name == family
    assert info.roles.mask_id == ids["mask"]
    assert info.roles.fill_id == ids["eos"]
    assert ids.get("turn_end", info.family.turn_end_id) in info.roles.end_ids


@pytest.mark.parametrize(("family", "name"), CUT)
def test_the_vocabulary_is_cut_and_the_same_tokens_are_banned(
    family: str, name: str, golden_checkpoint: Callable[[str], Path]
) -> None:
    settings, info = load_case(family, name)["settings"], inspect(golden_checkpoint(family))
    assert info.decoder.vocab_size == settings["logits_columns_kept"]
    assert info.family.loop.banned_ids == set(settings["banned_ids"])
