from __future__ import annotations

import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st

from seer_core.probe.boundary import NOTHING
from seer_core.probe.readout import readout_boundary, readout_scores


def literal_split(z: list[float]) -> tuple[int | None, float]:
    best, score = None, 0.0
    for b in range(len(z)):
        total = sum(max(-6.0, min(6.0, value)) for value in z[b:])
        if total > 0 and total >= score:
            best, score = b, total
    return best, score


def test_scores_weigh_the_magnitudes() -> None:
    activations = torch.tensor([[1.0, -2.0], [0.0, 0.5]])
    scores = readout_scores(activations, torch.tensor([1.0, -0.5]), 0.25)
    assert scores.tolist() == [0.25, 0.0]


def test_half_precision_activations_are_weighed_in_single() -> None:
    activations = torch.tensor([[1.0, -2.0]], dtype=torch.bfloat16)
    assert readout_scores(activations, torch.tensor([0.001, 1.0]), 0.0).dtype == torch.float32


def test_the_boundary_starts_the_best_suffix() -> None:
    assert readout_boundary(np.array([-3.0, -1.0, 2.0, -1.0, 4.0])).boundary == 2


def test_the_score_is_the_sum_behind_the_boundary() -> None:
    assert readout_boundary(np.array([-3.0, 2.0, 1.0])).score == 3.0


def test_an_empty_answer_has_boundary_zero() -> None:
    assert readout_boundary(np.array([1.0, 2.0, 3.0])).boundary == 0


def test_no_positive_suffix_is_no_boundary() -> None:
    assert readout_boundary(np.array([5.0, -1.0, -6.0])) == NOTHING


def test_one_loud_position_is_clipped() -> None:
    # Unclipped, -100 would move the end behind itself; clipped, the two before it outvote it.
    assert readout_boundary(np.array([-5.0, 4.0, 4.0, -100.0, 2.0, 2.0])).boundary == 1


def test_of_equal_splits_the_later_keeps_more() -> None:
    assert readout_boundary(np.array([0.0, 0.0, 1.0])).boundary == 2


@given(st.lists(st.integers(-80, 80).map(lambda value: value / 8), min_size=1, max_size=40))
def test_the_split_equals_its_literal_twin(z: list[float]) -> None:
    found = readout_boundary(np.array(z))
    assert (found.boundary, found.score) == literal_split(z)
