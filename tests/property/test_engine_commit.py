"""The commit rules on any confidences: bounds, order, and a slow twin."""

from __future__ import annotations

from dataclasses import replace

import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from seer_core.engine.commit import COMMITS, factor, threshold
from seer_core.engine.config import EngineConfig
from seer_core.engine.row import ActiveRow
from seer_core.engine.sampler import propose, rank
from seer_core.types import Decoding
from tests.unit.engine.stage import ROLES, SIZES, decode, make_row

CONFIDENCES = st.lists(st.floats(0, 1) | st.floats(0.9, 1), min_size=1, max_size=40)
FACTORS = st.floats(0.01, 10)
DECODINGS = st.builds(
    Decoding,
    commit=st.sampled_from(sorted(COMMITS)),
    commit_threshold=st.floats(-1, 2),
    commit_factor=FACTORS,
    steps_per_token=st.sampled_from([1.0, 0.5, 0.3]),
    schedule=st.sampled_from(["even", "shift", "cosine"]),
    block_length=st.sampled_from([None, 3, 8]),
    remasking=st.sampled_from(["low_confidence", "entropy", "margin", "random"]),
)


def descending(confidences: list[float]) -> Tensor:
    return rank(torch.tensor(confidences, dtype=torch.float64)).confidence


def factor_by_hand(confidences: list[float], limit: float) -> int:
    """Token after token, the surest first, until one does not pass."""
    taken = 0
    for n, confidence in enumerate(sorted(confidences, reverse=True), start=1):
        if (n + 1) * (1 - confidence) >= limit:
            break
        taken = n
    return max(1, taken)


def started(canvas: int, decoding: Decoding) -> ActiveRow:
    row = make_row(canvas=canvas, decoding=decoding)
    return ActiveRow(row, roles=ROLES, decode=decode, config=EngineConfig())


def advance(row: ActiveRow, logits: Tensor) -> None:
    row.commit(propose(logits, mask_id=ROLES.mask_id, ask=row.ask))


def sharp_logits(row: ActiveRow, generator: torch.Generator) -> Tensor:
    """Logits of the row's holes, some all but certain."""
    return torch.randn(len(row.canvas.holes), SIZES.vocab_size, generator=generator) * 12


@given(CONFIDENCES, st.data(), DECODINGS)
def test_a_step_commits_what_is_due_and_never_more_than_the_holes(
    confidences: list[float], data: st.DataObject, decoding: Decoding
) -> None:
    due = data.draw(st.integers(1, len(confidences)))
    assert due <= COMMITS[decoding.commit](descending(confidences), due, decoding) <= len(confidences)


@given(CONFIDENCES, FACTORS)
def test_the_factor_rule_is_its_slow_twin(confidences: list[float], limit: float) -> None:
    taken = factor(descending(confidences), 1, Decoding(commit_factor=limit))
    assert taken == factor_by_hand(confidences, limit)


@given(CONFIDENCES, st.floats(0, 0.999))
def test_the_threshold_rule_takes_the_sure_and_only_them(confidences: list[float], limit: float) -> None:
    taken = threshold(descending(confidences), 1, Decoding(commit_threshold=limit))
    assert taken == max(1, len([confidence for confidence in confidences if confidence >= limit]))


@given(CONFIDENCES, st.floats(1, 100))
def test_a_threshold_of_one_or_more_commits_one_at_a_time(confidences: list[float], limit: float) -> None:
    assert threshold(descending(confidences), 1, Decoding(commit_threshold=limit)) == 1


@given(st.integers(1, 24), DECODINGS, st.integers(0, 1000))
@settings(max_examples=50)
def test_every_step_fills_a_hole_and_the_schedule_bounds_the_steps(canvas: int, decoding: Decoding, seed: int) -> None:
    row, plain = started(canvas, decoding), started(canvas, replace(decoding, commit="schedule"))
    generator = torch.Generator().manual_seed(seed)
    while not row.canvas.complete:
        masked, before = row.canvas.tokens.count(ROLES.mask_id), row.steps
        advance(row, sharp_logits(row, generator))
        assert row.canvas.tokens.count(ROLES.mask_id) < masked
        assert row.steps == before + 1
    while not plain.canvas.complete:
        advance(plain, sharp_logits(plain, generator))
    assert row.steps <= plain.steps


@given(st.integers(1, 16), st.integers(0, 1000))
@settings(max_examples=25)
def test_one_at_a_time_goes_in_the_order_of_confidence(canvas: int, seed: int) -> None:
    row = started(canvas, Decoding(commit="threshold", commit_threshold=1.0))
    logits = torch.randn(canvas, SIZES.vocab_size, generator=torch.Generator().manual_seed(seed))
    usable = logits.double().softmax(-1)[:, : ROLES.mask_id]
    order = rank(usable.max(-1).values).order.tolist()
    filled = []
    while not row.canvas.complete:
        holes = row.canvas.holes
        advance(row, logits[holes])
        filled += [slot for slot in holes if row.canvas.tokens[slot] != ROLES.mask_id]
    assert filled == order
