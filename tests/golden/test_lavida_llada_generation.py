"""The denoising loop against LaViDa's own: every token, where each forward wrote, and how many forwards there were."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from seer_core.engine.config import EngineConfig
from seer_core.engine.engine import Engine, Row
from seer_core.families.registry import inspect, load_model
from seer_core.models.vlm import VisionLanguageModel
from seer_core.preprocess.image import ImageLimits, cut_views, decode_image
from seer_core.probe.detectors import whole_canvas
from seer_core.prompt import EncodedPrompt, Prompt
from seer_core.types import Decoding, Outcome, Sampling, TokenRoles
from tests.golden.conftest import CASES, case_names, load_case
from tests.solo import Stage

FAMILY = "lavida_llada"
NAMES = case_names(FAMILY)
Encode = Callable[[str], EncodedPrompt]


@pytest.fixture(scope="module")
def model(golden_checkpoint: Callable[[str], Path]) -> VisionLanguageModel:
    return load_model(golden_checkpoint(FAMILY))


@pytest.fixture(scope="module")
def roles(golden_checkpoint: Callable[[str], Path]) -> TokenRoles:
    return inspect(golden_checkpoint(FAMILY)).roles


@pytest.fixture(scope="module")
def encode(golden_checkpoint: Callable[[str], Path], model: VisionLanguageModel) -> Encode:
    info = inspect(golden_checkpoint(FAMILY))
    tiling = info.family.tiling(info.fields, info.vision)

    @cache
    def of_case(name: str) -> EncodedPrompt:
        case = load_case(FAMILY, name)
        files = [] if case["image"] is None else [case["image"]["file"]]
        images = tuple(cut_views(decode_image((CASES / file).read_bytes(), ImageLimits()), tiling) for file in files)
        prompt = Prompt(ids=np.array(case["prompt_ids"]), images=images, length_tokens=case["prompt_length"])
        return model.encode(prompt)

    return of_case


def decoding_of(settings: dict[str, Any]) -> Decoding:
    """The reference's settings in our words; its spelling of entropy is its own."""
    block = settings["block_length"]
    steps = settings.get("step_per_block", int(block * settings.get("step_ratio", 1.0)))
    return Decoding(
        steps_per_token=steps / block,
        block_length=block,
        remasking={"entrophy": "entropy"}.get(settings["remasking"], settings["remasking"]),
        schedule=settings.get("schedule", "even"),
        schedule_shift=settings.get("schedule_kwargs", {}).get("shift", 3.0),
        early_exit=False,
    )


def row_of(name: str, prompt: EncodedPrompt) -> Row:
    settings = load_case(FAMILY, name)["settings"]
    length = settings["gen_length"]
    forecast = whole_canvas(length)
    sampling = Sampling(max_tokens=length)
    return Row(id=name, prompt=prompt, forecast=forecast, sampling=sampling, decoding=decoding_of(settings))


def spell(ids: Sequence[int]) -> str:
    return "".join(f" {token}" for token in ids)


@pytest.mark.parametrize("name", NAMES)
def test_every_forward_writes_what_the_reference_writes(
    name: str, model: VisionLanguageModel, roles: TokenRoles, encode: Encode
) -> None:
    case = load_case(FAMILY, name)
    stage = Stage(model.decoder, roles, spell, prefix_lm=case["settings"]["prefix_lm"])
    row = stage.start(row_of(name, encode(name)))
    batch = stage.batch([row])
    written = []
    while not row.canvas.complete:
        if not batch.current:
            batch = stage.batch([row])
        before = list(row.canvas.tokens)
        stage.step(batch)
        assert row.error is None
        pairs = enumerate(zip(before, row.canvas.tokens, strict=True))
        written.append([[slot, now] for slot, (was, now) in pairs if was != now])
    assert written == [step["written"] for step in case["expected"]["steps"]]
    assert row.steps == case["expected"]["forwards"]
    assert row.canvas.tokens == case["expected"]["tokens"]


@pytest.mark.parametrize("prefix_lm", [True, False])
def test_all_cases_together_answer_as_the_reference_does_alone(
    prefix_lm: bool, model: VisionLanguageModel, roles: TokenRoles, encode: Encode
) -> None:
    names = [name for name in NAMES if load_case(FAMILY, name)["settings"]["prefix_lm"] == prefix_lm]
    engine = Engine(model.decoder, roles, spell, EngineConfig(), prefix_lm=prefix_lm)
    engine.admit([row_of(name, encode(name)) for name in names])
    outcomes: dict[str, Outcome] = {}
    while not engine.idle:
        outcomes |= {delta.id: delta.outcome for delta in engine.step() if delta.outcome is not None}
    assert outcomes.keys() == set(names)
    for name, outcome in outcomes.items():
        expected = load_case(FAMILY, name)["expected"]
        assert list(outcome.tokens) == expected["tokens"]
        assert outcome.text == spell(expected["tokens"])
        assert (outcome.steps, outcome.finish_reason) == (expected["forwards"], "length")
