"""Every family's loop against its own reference: each token, where each forward wrote it, and how many there were."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from seer_core.config import LoopFacts
from seer_core.engine.config import EngineConfig
from seer_core.engine.engine import Engine
from seer_core.engine.row import ActiveRow, Row
from seer_core.families.family import Family
from seer_core.families.registry import inspect, load_model
from seer_core.models.multimodal import MultimodalModel
from seer_core.prompt import EncodedPrompt
from seer_core.types import Outcome, TokenRoles
from tests.golden.conftest import case_names, load_case
from tests.golden.generation import changes, forwards_of, loop_of, roles_of, row_of, spell, text_prompts
from tests.golden.pooled import pooled_step
from tests.golden.vision import prompt_of
from tests.solo import Stage

Case = dict[str, Any]


class Setting(NamedTuple):
    """A case, ready to run: one prompt a row of its batch."""

    family: Family
    roles: TokenRoles
    loop: LoopFacts
    model: MultimodalModel
    prompts: list[EncodedPrompt]

    def stage(self) -> Stage:
        return Stage(self.model.decoder, self.roles, spell, loop=self.loop)

    def rows(self, name: str, case: Case) -> list[Row]:
        return [row_of(f"{name}/{n}", self.family, case["settings"], prompt) for n, prompt in enumerate(self.prompts)]


Set = Callable[[str, str], Setting]

FAMILIES = ("lavida_llada", "lavida_dream", "llada_v", "mmada", "dimple")
# The reference ranks the masks of all its rows together.
POOLED = [("dimple", "batch2_left_dim")]
CASES = [
    (family, name)
    for family in FAMILIES
    for name in case_names(family)
    if not load_case(family, name).get("tie_dependent") and (family, name) not in POOLED
]
SINGLE = [case for case in CASES if not isinstance(load_case(*case)["prompt_ids"][0], list)]


@pytest.fixture(scope="module")
def setting(checkpoint_of: Callable[[Case], Path]) -> Set:
    model_of = cache(load_model)

    def of(family: str, name: str) -> Setting:
        case = load_case(family, name)
        folder = checkpoint_of(case["weights"])
        info, model = inspect(folder), model_of(folder)
        if case.get("image") is None:
            prompts = text_prompts(model.decoder, case)
        else:
            prompts = [model.encode(prompt_of(case, folder))]
        loop = loop_of(info.family, case["settings"])
        return Setting(info.family, roles_of(case, info.roles), loop, model, prompts)

    return of


def expected_of(case: Case, row: int) -> tuple[list[Any], list[int]]:
    """What each forward writes in the row, and its tokens."""
    expected = case["expected"]
    if isinstance(case["prompt_ids"][0], list):
        return [step["written"][row] for step in expected["steps"]], expected["tokens"][row]
    return [step["written"] for step in expected["steps"]], expected["tokens"]


@pytest.mark.parametrize(("family", "name"), CASES)
def test_every_forward_writes_what_the_reference_writes(family: str, name: str, setting: Set) -> None:
    case, at = load_case(family, name), setting(family, name)
    stage = at.stage()
    for number, asked in enumerate(at.rows(name, case)):
        row = stage.start(asked)
        written = forwards_of(stage, row)
        steps, tokens = expected_of(case, number)
        written[-1] = [pair for pair in written[-1] if pair[0] < len(tokens)]  # the rest is behind the stop
        assert written == steps
        assert row.steps == case["expected"]["forwards"]
        assert row.canvas.tokens[: len(tokens)] == tokens


@pytest.mark.parametrize("family", FAMILIES)
def test_all_cases_of_a_loop_together_answer_as_the_reference_does_alone(family: str, setting: Set) -> None:
    groups: dict[tuple[str, LoopFacts, TokenRoles], list[str]] = {}
    for name in (name for own, name in CASES if own == family):
        at = setting(family, name)
        groups.setdefault((str(id(at.model)), at.loop, at.roles), []).append(name)
    for (_, loop, roles), names in groups.items():
        engine = Engine(setting(family, names[0]).model.decoder, roles, spell, EngineConfig(), loop=loop)
        engine.admit([row for name in names for row in setting(family, name).rows(name, load_case(family, name))])
        outcomes: dict[str, Outcome] = {}
        while not engine.idle:
            for delta in engine.step():
                assert delta.error is None
                outcomes |= {delta.id: delta.outcome} if delta.outcome is not None else {}
        for name in names:
            for number in range(len(setting(family, name).prompts)):
                tokens = expected_of(load_case(family, name), number)[1]
                answer = answer_of(tokens, roles)
                assert list(outcomes[f"{name}/{number}"].tokens) == answer


def answer_of(tokens: list[int], roles: TokenRoles) -> list[int]:
    """Before the first end token."""
    end = next((slot for slot, token in enumerate(tokens) if token in roles.end_ids), len(tokens))
    return tokens[:end]


@pytest.mark.parametrize(("family", "name"), SINGLE)
def test_a_truncated_run_is_the_references_at_that_length(family: str, name: str, setting: Set) -> None:
    """L* masks in front of nothing are what the reference sees when it is asked for L* tokens."""
    case, at = load_case(family, name), setting(family, name)
    (asked,) = at.rows(name, case)
    length = max(1, len(expected_of(case, 0)[1]) // 2)
    cut = replace(asked, forecast=replace(asked.forecast, length_tokens=length, fallback=False))
    short = replace(asked, sampling=replace(asked.sampling, max_tokens=length))
    stage = at.stage()
    rows = [stage.start(each) for each in (cut, short)]
    first, second = (forwards_of(stage, row) for row in rows)
    assert first == second
    assert rows[0].canvas.tokens == rows[1].canvas.tokens
    assert len(rows[0].canvas) == length


@pytest.mark.parametrize(("family", "name"), SINGLE)
def test_an_oracle_that_keeps_the_whole_canvas_changes_nothing(family: str, name: str, setting: Set) -> None:
    case, at = load_case(family, name), setting(family, name)
    (asked,) = at.rows(name, case)
    length = case["settings"]["gen_length"]
    seen = replace(asked.forecast, length_tokens=length, boundary=length - 1, detector="oracle", fallback=False)
    stage = at.stage()
    row = stage.start(replace(asked, forecast=seen))
    written = forwards_of(stage, row)
    steps, tokens = expected_of(case, 0)
    assert written[:-1] == steps[:-1]
    assert row.canvas.tokens[: len(tokens)] == tokens


@pytest.mark.parametrize(("family", "name"), POOLED)
def test_rows_ranked_together_as_the_reference_does_write_what_it_writes(family: str, name: str, setting: Set) -> None:
    """What a service must not do, as it makes rows depend on each other; here it shows that all else is equal."""
    case, at = load_case(family, name), setting(family, name)
    stage = at.stage()
    rows: list[ActiveRow] = [stage.start(asked) for asked in at.rows(name, case)]
    steps = len(case["expected"]["steps"])
    for number, expected in enumerate(case["expected"]["steps"]):
        before = [list(row.canvas.tokens) for row in rows]
        pooled_step(stage, rows, number, steps)
        assert [changes(old, row.canvas.tokens) for old, row in zip(before, rows, strict=True)] == expected["written"]
    assert [row.canvas.tokens for row in rows] == case["expected"]["tokens"]
