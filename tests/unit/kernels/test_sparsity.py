from __future__ import annotations

import pytest
import torch

from seer_core.kernels.sparsity import sparsity


def test_the_share_of_units_below_eps_is_counted_per_position() -> None:
    activations = torch.tensor([[[0.5, -0.0005, 0.0, 0.002], [1.0, -1.0, 2.0, -0.5]]])
    assert sparsity(activations, 1e-3).tolist() == [[0.5, 0.0]]


def test_a_value_of_exactly_eps_is_not_near_zero() -> None:
    assert sparsity(torch.tensor([0.25, -0.25, 0.2]), 0.25).item() == pytest.approx(1 / 3)


def test_the_quotient_is_the_float64_quotient_of_the_counts() -> None:
    activations = torch.ones(2, 3)
    activations[0, 0] = 0.0
    assert sparsity(activations, 0.5)[0].item() == 1 / 3


def test_half_precision_does_not_round_eps() -> None:
    # The bfloat16 nearest to 1e-3 lies just below it: near zero by the exact eps, not by a rounded one.
    assert sparsity(torch.tensor([1e-3]).bfloat16(), 1e-3).item() == 1.0


def test_a_nan_is_not_near_zero() -> None:
    assert sparsity(torch.tensor([float("nan"), 0.0]), 1.0).item() == 0.5
