"""Sixty-four rows with sixty-four different settings in one batch, each against its run alone.

The rule: logits within 1e-5, and tokens equal except where the gap that decided them is below 1e-5; those are counted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
import torch
from torch import Tensor

from seer_core.engine.cache import CACHES
from seer_core.engine.commit import COMMITS
from seer_core.engine.config import EngineConfig
from seer_core.engine.engine import Engine
from seer_core.engine.graphs.recording import RecordingGraphs
from seer_core.engine.remasking import REMASKING
from seer_core.engine.row import ActiveRow, Row, Written
from seer_core.engine.sampler import Proposal, propose
from seer_core.engine.schedule import SCHEDULES
from seer_core.types import Decoding, Outcome, Sampling
from tests.solo import Stage
from tests.unit.engine.stage import ROLES, decode, loop_of, make_row, outcome_of, random_decoder, run_dry

ROWS = 64
TOLERANCE = 1e-5


def pick(n: int, names: object) -> str:
    choices = sorted(names)  # type: ignore[call-overload]
    return str(choices[n % len(choices)])


def mixed_row(n: int) -> Row:
    """Row n of the mix: no two have the same settings."""
    return make_row(
        f"row {n}",
        prompt_tokens=1 + (7 * n) % 23,
        canvas=4 + (5 * n) % 37,
        sampling=Sampling(
            max_tokens=4 + (5 * n) % 37 + 8 * (n % 3),
            temperature=(0.0, 0.0, 0.6, 1.2)[n % 4],
            top_p=(1.0, 0.9)[n % 2],
            seed=n,
            stop=((), ("ab",), ("x", "q."))[n % 3],
        ),
        decoding=Decoding(
            steps_per_token=(1.0, 0.5, 0.34)[n % 3],
            block_length=(None, 4, 7, 16)[(n // 2) % 4],
            remasking=pick(n, REMASKING),
            schedule=pick(n // 3, SCHEDULES),
            schedule_shift=0.3 + n / 20,
            commit=pick(n // 5, COMMITS),
            commit_threshold=0.3 + (n % 7) / 10,
            cache=pick(n // 4, CACHES),
            guidance_scale=(0.0, 0.0, 0.0, 0.5)[n % 4],
            early_exit=n % 5 != 0,
        ),
    )


MIX = [mixed_row(n) for n in range(ROWS)]


def in_one_go(engine: Engine) -> dict[str, Outcome]:
    return {name: outcome_of(deltas) for name, deltas in run_dry(engine, MIX).items()}


def engine(*, prefix_lm: bool, recorded: bool = False) -> Engine:
    config = EngineConfig(max_rows=ROWS, core_rows=(8, 16), core_tokens=(16, 32), core_prompt_tokens=24)
    graphs = RecordingGraphs() if recorded else None
    return Engine(random_decoder(3), ROLES, decode, config, loop=loop_of(prefix_lm=prefix_lm), graphs=graphs)


@pytest.mark.parametrize("recorded", [False, True], ids=["eager", "graphs"])
@pytest.mark.parametrize("prefix_lm", [True, False])
def test_every_row_of_the_mix_answers_as_it_does_alone(prefix_lm: bool, recorded: bool) -> None:
    assert len({(row.sampling, row.decoding) for row in MIX}) == ROWS
    mixed = engine(prefix_lm=prefix_lm, recorded=recorded)
    mixed.prepare()
    assert mixed.ready
    together = in_one_go(mixed)
    for row in MIX:
        alone = outcome_of(run_dry(engine(prefix_lm=prefix_lm), [row])[row.id])
        assert replace(together[row.id], path=alone.path) == alone, row.id


@torch.inference_mode()
def logits_of(stage: Stage, rows: list[ActiveRow], *, padded: bool) -> tuple[Tensor, ...]:
    batch = stage.batch(rows, padded=padded)
    decoder = stage.forward.decoder
    logits = batch.logits(decoder, stage.forward(batch.shape, batch.inputs(decoder)))
    return torch.split(logits, [len(row.canvas.holes) for row in rows])


def decided_by(written: Sequence[Written], proposals: Sequence[Proposal], holes: list[int], logits: Tensor) -> float:
    """The largest gap that decided what the two wrote differently: between two tokens, or between two confidences."""
    slots = [holes.index(slot) for slot in set(written[0].slots) ^ set(written[1].slots)]
    top = logits.double().topk(2).values
    tokens = (top[:, 0] - top[:, 1])[proposals[0].tokens != proposals[1].tokens]
    confidences = proposals[1].confidence[slots]
    spread = confidences.max() - confidences.min() if slots else torch.zeros(())
    return max(float(spread), float(tokens.max()) if len(tokens) else 0.0)


@pytest.mark.parametrize("padded", [False, True], ids=["packed", "padded"])
def test_every_step_of_the_mix_is_the_step_alone(padded: bool) -> None:
    decoder = random_decoder(3)
    mixed, alone = (Stage(decoder, ROLES, decode, places=2**13) for _ in range(2))
    pairs = [(mixed.start(row), alone.start(row)) for row in MIX]
    steps = near_ties = 0
    while pairs:
        logits = logits_of(mixed, [own for own, _ in pairs], padded=padded)
        for (own, twin), found in zip(pairs, logits, strict=True):
            (expected,) = logits_of(alone, [twin], padded=False)
            # Guidance is a difference of two logits, times the scale.
            torch.testing.assert_close(found, expected, atol=TOLERANCE * (1 + 2 * own.guidance), rtol=0)
            holes = list(twin.canvas.holes)
            proposals = [propose(each, mask_id=ROLES.mask_id, ask=own.ask) for each in (found, expected)]
            written = [row.commit(each) for row, each in zip((own, twin), proposals, strict=True)]
            if written[0] != written[1]:
                assert decided_by(written, proposals, holes, expected) < TOLERANCE
                near_ties += 1
            steps += 1
        pairs = [
            (own, twin) for own, twin in pairs if not own.canvas.complete and own.canvas.tokens == twin.canvas.tokens
        ]
    assert steps > 500
    assert near_ties <= steps // 100, f"{near_ties} of {steps} steps were decided by a gap below {TOLERANCE}"
