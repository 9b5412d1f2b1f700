"""The decoder against LLaDA-V's own at the first forward of every case whose prompt is ids alone."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from seer_core.families.registry import inspect, load_decoder
from tests.golden.conftest import case_names, load_case, load_numbers
from tests.golden.first_forward import check_first_forward

FAMILY = "llada_v"
NAMES = [name for name in case_names(FAMILY) if load_case(FAMILY, name)["image"] is None]


@pytest.mark.parametrize("name", NAMES)
def test_every_layer_and_the_logits_are_the_references(
    name: str, checkpoint_of: Callable[[dict[str, Any]], Path]
) -> None:
    case = load_case(FAMILY, name)
    decoder = load_decoder(checkpoint_of(case["weights"]))
    check_first_forward(decoder, case, load_numbers(FAMILY, name))


def test_the_checkpoint_is_known_by_its_tensors_and_has_the_references_ids(
    golden_checkpoint: Callable[[str], Path],
) -> None:
    info = inspect(golden_checkpoint(FAMILY))
    assert info.family.name == FAMILY
    for name in NAMES:
        ids = load_case(FAMILY, name)["ids"]
        assert info.roles.mask_id == ids["mask"]
        assert info.roles.fill_id == ids["eos"]
        assert ids.get("turn_end", info.family.turn_end_id) in info.roles.end_ids


@pytest.mark.parametrize("name", NAMES)
def test_the_vocabulary_is_cut_and_the_same_tokens_are_banned(
    name: str, golden_checkpoint: Callable[[str], Path]
) -> None:
    settings, info = load_case(FAMILY, name)["settings"], inspect(golden_checkpoint(FAMILY))
    assert info.decoder.vocab_size == settings["logits_columns_kept"]
    assert info.family.loop.banned_ids == set(settings["banned_ids"])
