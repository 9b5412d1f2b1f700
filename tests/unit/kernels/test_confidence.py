"""The definition, and its kernel in Triton's interpreter against it."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from seer_core.kernels.confidence import confidence_for
from seer_core.kernels.confidence.kernel import confidence as kernel
from seer_core.kernels.confidence.measure import Measure
from seer_core.kernels.confidence.reference import confidence as reference
from tests.unit.kernels.cases import ALL_MEASURES, DTYPES, VOCABULARIES, assert_same, normal, poisoned

every_measure = pytest.mark.parametrize("measure", ALL_MEASURES)
INF, NAN = torch.inf, torch.nan

# Of the interpreter's numpy, for rows that have no confidence; a device says nothing.
no_numbers = pytest.mark.filterwarnings("ignore:invalid value encountered:RuntimeWarning")


@every_measure
def test_the_reference_is_the_float64_softmax_of_the_raw_logits(measure: Measure) -> None:
    logits = torch.tensor([[1.0, 4.0, 2.0, 9.0]])
    p = logits.double().softmax(-1)[0]
    expected = {"probability": p[1], "margin": p[3] - p[1], "entropy": (p * (p + 1e-10).log()).sum()}[measure]
    tokens, values = reference(logits, 3, measure)
    assert tokens.tolist() == [1]
    assert values.item() == expected.item()


@every_measure
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("shape", VOCABULARIES, ids=str)
def test_the_kernel_gives_what_the_reference_gives(
    shape: tuple[int, int], dtype: torch.dtype, measure: Measure
) -> None:
    logits = normal(*shape).to(dtype)
    excluded = int(logits[0].argmax())
    assert_same(kernel(logits, excluded, measure), reference(logits, excluded, measure))


@every_measure
@pytest.mark.parametrize("columns", [2, 63, 1000, 4097])
def test_the_kernel_stays_within_its_rows(columns: int, measure: Measure) -> None:
    logits = poisoned(normal(5, columns))
    found = kernel(logits, columns - 1, measure)
    assert found.values.isfinite().all()
    assert_same(found, reference(logits, columns - 1, measure))


@every_measure
def test_the_kernel_reads_columns_that_are_apart(measure: Measure) -> None:
    logits = normal(1000, 4).T
    assert_same(kernel(logits, 0, measure), reference(logits, 0, measure))


@every_measure
def test_of_equals_the_lowest_column_wins_within_a_chunk_and_across(measure: Measure) -> None:
    logits = torch.zeros(3, 9000)
    logits[0, [70, 71, 8500]] = 5.0
    logits[1, [4095, 4096]] = 5.0
    found = kernel(logits, 1, measure)
    assert found.tokens.tolist() == [70, 4095, 0]
    assert_same(found, reference(logits, 1, measure))
    if measure == "margin":
        assert found.values.tolist() == [0.0, 0.0, 0.0]


@every_measure
def test_the_margin_is_seen_whichever_chunk_holds_the_second(measure: Measure) -> None:
    logits = normal(4, 9000)
    logits[0, [10, 20]] = torch.tensor([30.0, 29.0])
    logits[1, [10, 8000]] = torch.tensor([30.0, 29.0])
    logits[2, [10, 8000]] = torch.tensor([29.0, 30.0])
    logits[3, [8000, 8001]] = torch.tensor([29.0, 30.0])
    assert_same(kernel(logits, 7, measure), reference(logits, 7, measure))


@every_measure
def test_impossible_tokens_have_no_part(measure: Measure) -> None:
    logits = torch.full((4, 9000), -INF)
    logits[0, 8999] = -3.0
    logits[1, [3, 5000]] = torch.tensor([900.0, 899.0])
    logits[2, :4096] = normal(4096)
    logits[3, 4096:] = normal(4904, scale=1e4)
    found = kernel(logits, 0, measure)
    assert found.tokens[:2].tolist() == [8999, 3]
    assert found.values.isfinite().all()
    assert_same(found, reference(logits, 0, measure))


@every_measure
@no_numbers
@pytest.mark.parametrize("implementation", [reference, kernel], ids=["reference", "kernel"])
def test_a_row_that_proposes_nothing_has_no_confidence(implementation: object, measure: Measure) -> None:
    assert callable(implementation)
    logits = torch.zeros(7, 5000)
    logits[0, 4] = NAN
    logits[1, 4999] = INF
    logits[2] = -INF
    logits[3] = torch.where(torch.arange(5000) == 2, 1.0, -INF)  # nothing but the excluded
    logits[4, 2] = NAN
    logits[5, 2] = INF
    assert implementation(logits, 2, measure).values.isfinite().tolist() == [False] * 6 + [True]


@every_measure
def test_no_rows_are_no_work(measure: Measure) -> None:
    found = kernel(torch.zeros(0, 9), 0, measure)
    assert [value.shape for value in found] == [(0,), (0,)]


def test_rows_beyond_two_to_the_31_elements_are_reached(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.UntypedStorage, "copy_", lambda self, source: self)  # the interpreter's, onto itself
    stride, columns = 2**30 + 7, 50  # a stride that 32 bits hold, an offset that they do not
    field = torch.empty(2 * stride + columns, dtype=torch.bfloat16)  # memory is only taken where it is touched
    logits = field.as_strided((3, columns), (stride, 1))
    logits.copy_(normal(3, columns))
    assert_same(kernel(logits, 3, "margin"), reference(logits, 3, "margin"))


SPECIAL = st.sampled_from([0.0, 1.0, 1.0, -INF, 80.0, -700.0, 1e30])


@no_numbers
@given(
    logits=st.integers(2, 40).flatmap(
        lambda columns: st.lists(
            st.lists(st.floats(-50, 50, width=16) | SPECIAL, min_size=columns, max_size=columns), min_size=1, max_size=4
        )
    ),
    measure=st.sampled_from(ALL_MEASURES),
    pick=st.integers(0, 10**6),
)
def test_any_rows_agree(logits: list[list[float]], measure: Measure, pick: int) -> None:
    rows: Tensor = torch.tensor(logits)
    excluded = pick % rows.shape[1]
    assert_same(kernel(rows, excluded, measure), reference(rows, excluded, measure))


def test_the_device_chooses() -> None:
    assert confidence_for(torch.device("cpu")) is reference
    assert confidence_for(torch.device("cuda", 1)) is kernel
