"""Every family's loop against its own reference: each token, where each forward wrote it, and how many there were."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from seer_core.families.family import Family
from seer_core.families.registry import inspect, load_decoder
from seer_core.models.decoder import Decoder
from tests.golden.conftest import case_names, load_case
from tests.golden.generation import forwards_of, loop_of, roles_of, row_of, spell, text_prompts
from tests.solo import Stage

Case = dict[str, Any]
Checkpoints = Callable[[Case], Path]

FAMILIES = ("lavida_llada", "lavida_dream", "llada_v", "mmada", "dimple")
# The first ranks the masks of all its rows together, and of the second all confidences are exactly equal.
APART = {("dimple", "batch2_left_dim"), ("dimple", "text_dream_topp")}
CASES = [
    (family, name)
    for family in FAMILIES
    for name in case_names(family)
    if load_case(family, name).get("image") is None and (family, name) not in APART
]


def staged(case: Case, folder: Path) -> tuple[Stage, Family, Decoder]:
    info, decoder = inspect(folder), load_decoder(folder)
    loop = loop_of(info.family, case["settings"])
    return Stage(decoder, roles_of(case, info.roles), spell, loop=loop), info.family, decoder


@pytest.mark.parametrize(("family", "name"), CASES)
def test_every_forward_writes_what_the_reference_writes(family: str, name: str, checkpoint_of: Checkpoints) -> None:
    case = load_case(family, name)
    stage, facts, decoder = staged(case, checkpoint_of(case["weights"]))
    expected, batched = case["expected"], isinstance(case["prompt_ids"][0], list)
    for number, prompt in enumerate(text_prompts(decoder, case)):
        row = stage.start(row_of(f"{name}/{number}", facts, case["settings"], prompt))
        written = forwards_of(stage, row)
        steps = [step["written"][number] if batched else step["written"] for step in expected["steps"]]
        tokens = expected["tokens"][number] if batched else expected["tokens"]
        written[-1] = [pair for pair in written[-1] if pair[0] < len(tokens)]  # the rest is behind the stop
        assert written == steps
        assert row.steps == expected["forwards"]
        assert row.canvas.tokens[: len(tokens)] == tokens
