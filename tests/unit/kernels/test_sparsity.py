from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.nn.functional import silu

from seer_core.kernels.sparsity import gated_sparsity_for, sparsity
from seer_core.kernels.sparsity.kernel import gated_sparsity as kernel
from seer_core.kernels.sparsity.reference import gated_sparsity as reference
from tests.unit.kernels.cases import DTYPES, UNITS, assert_same_shares, normal, poisoned

EPS = 1e-2

# Of the interpreter's numpy; gate / (1 + inf) is the zero it should be, in torch too.
far_below_zero = pytest.mark.filterwarnings("ignore:overflow encountered in exp:RuntimeWarning")


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


def test_the_gated_share_is_that_of_the_product_the_mlp_forms() -> None:
    gate, up = normal(2, 5, 64).bfloat16(), normal(2, 5, 64, seed=1).bfloat16()
    assert torch.equal(reference(gate, up, EPS), sparsity(silu(gate) * up, EPS))


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("shape", UNITS, ids=str)
def test_the_kernel_counts_what_the_reference_counts(shape: tuple[int, int], dtype: torch.dtype) -> None:
    gate, up = normal(*shape).to(dtype), normal(*shape, seed=1).to(dtype)
    assert_same_shares(kernel(gate, up, EPS), reference(gate, up, EPS), silu(gate) * up, EPS)


@pytest.mark.parametrize("units", [1, 63, 1000, 2049])
def test_the_kernel_stays_within_its_rows(units: int) -> None:
    gate, up = normal(2, 3, units), normal(2, 3, units, seed=1)
    shares = kernel(poisoned(gate), poisoned(up), 1e9)
    assert shares.tolist() == [[1.0] * 3] * 2
    assert_same_shares(kernel(poisoned(gate), up, EPS), reference(gate, up, EPS), silu(gate) * up, EPS)


def test_padding_of_the_last_chunk_is_not_counted() -> None:
    ones = torch.ones(4, 63)
    assert kernel(ones, ones, EPS).tolist() == [0.0] * 4


def test_a_product_of_exactly_eps_is_not_near_zero() -> None:
    gate, up = torch.tensor([64.0, 64.0, 64.0]), torch.tensor([2.0**-8, -(2.0**-8), 0.003])  # silu(64) is 64
    assert kernel(gate, up, 0.25).item() == reference(gate, up, 0.25).item() == 1 / 3


def test_gate_and_up_may_be_halves_of_one_projection() -> None:
    gate, up = normal(2, 3, 200).chunk(2, dim=-1)
    assert_same_shares(kernel(gate, up, EPS), reference(gate, up, EPS), silu(gate) * up, EPS)


def test_units_may_lie_apart() -> None:
    gate, up = normal(70, 3).T, normal(3, 70, seed=1)
    assert_same_shares(kernel(gate, up, EPS), reference(gate, up, EPS), silu(gate) * up, EPS)


def test_one_position_has_one_share_and_none_have_none() -> None:
    gate, up = torch.tensor([0.0, 2.0, 0.0, 9.0]), torch.tensor([1.0, 1.0, 1.0, 0.0])
    assert kernel(gate, up, EPS).item() == 0.75
    assert kernel(gate.expand(2, 0, 4), up.expand(2, 0, 4), EPS).shape == (2, 0)


@far_below_zero
def test_no_number_is_no_near_zero_and_extremes_are_numbers() -> None:
    gate = torch.tensor([float("nan"), 1.0, -1e4, 1e4, 0.0])
    up = torch.tensor([1.0, float("nan"), 1.0, 1.0, 1.0])
    assert reference(gate, up, EPS).item() == kernel(gate, up, EPS).item() == pytest.approx(2 / 5)


def test_positions_beyond_two_to_the_31_elements_are_reached(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.UntypedStorage, "copy_", lambda self, source: self)  # the interpreter's, onto itself
    stride, units = 2**30 + 7, 50  # a stride that 32 bits hold, an offset that they do not
    field = torch.empty(2 * stride + units, dtype=torch.bfloat16)  # memory is only taken where it is touched
    gate = field.as_strided((3, units), (stride, 1))
    gate.copy_(normal(3, units))
    up = normal(3, units, seed=1).bfloat16()
    assert_same_shares(kernel(gate, up, EPS), reference(gate, up, EPS), silu(gate) * up, EPS)


@far_below_zero
@given(
    pairs=st.lists(st.tuples(st.floats(-100, 100, width=16), st.floats(-4, 4, width=16)), min_size=1, max_size=70),
    eps=st.sampled_from([1e-3, 1e-2, 0.5]),
)
def test_any_units_agree(pairs: list[tuple[float, float]], eps: float) -> None:
    gate, up = torch.tensor(pairs).T
    assert_same_shares(kernel(gate, up, eps), reference(gate, up, eps), silu(gate) * up, eps)


def test_the_device_chooses() -> None:
    assert gated_sparsity_for(torch.device("cpu")) is reference
    assert gated_sparsity_for(torch.device("cuda", 1)) is kernel
