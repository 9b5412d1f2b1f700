"""The definition, its twin for a CPU, and its kernel in Triton's interpreter: each slot as if it were alone."""

from __future__ import annotations

import numpy as np
import pytest
import torch
import triton.language as tl
from hypothesis import given, settings
from hypothesis import strategies as st
from triton.runtime.interpreter import InterpreterBuilder, TensorHandle

from seer_core.kernels.varlen_attention import Segments, VarlenAttention, varlen_attention_for
from seer_core.kernels.varlen_attention.kernel import varlen_attention as kernel
from seer_core.kernels.varlen_attention.looped import Looped
from seer_core.kernels.varlen_attention.reference import varlen_attention as reference
from tests.unit.kernels.cases import DTYPES, normal, poisoned
from tests.unit.kernels.pools import HEADS, RAGGED, Pooled, assert_mixed, far_apart, pooled

everyone = pytest.mark.parametrize("attend", [reference, Looped(), kernel], ids=["reference", "looped", "kernel"])
Slots = tuple[tuple[int, int], ...]


@everyone
@pytest.mark.parametrize("slots", RAGGED, ids=str)
def test_each_slot_attends_to_its_own_keys_alone(attend: VarlenAttention, slots: Slots) -> None:
    case = pooled(slots)
    assert_mixed(attend(*case), case)


@everyone
@pytest.mark.parametrize("heads", HEADS, ids=str)
def test_any_heads_of_any_width_share_keys_in_a_row(attend: VarlenAttention, heads: tuple[int, int, int]) -> None:
    case = pooled(((5, 63), (0, 1), (18, 20)), heads)
    assert_mixed(attend(*case), case)


@everyone
def test_slots_need_not_fill_the_longest(attend: VarlenAttention) -> None:
    query, keys, values, segments = case = pooled(RAGGED[1])
    roomy = segments._replace(max_queries=80, max_keys=200)
    assert_mixed(attend(query, keys, values, roomy), case)


@everyone
def test_a_bucket_of_slots_attends_from_its_padding_too(attend: VarlenAttention) -> None:
    case = pooled(((8, 20), (8, 1), (8, 33)), padding=0)
    assert_mixed(attend(*case), case)


@everyone
def test_empty_slots_may_all_attend_to_the_first_place(attend: VarlenAttention) -> None:
    query, keys, values, segments = pooled(((4, 6), (4, 1), (4, 1), (4, 1)))
    segments.key_starts[1:] = 0
    case = Pooled(query, keys, values, segments)
    assert_mixed(attend(*case), case)


@everyone
def test_slots_may_ask_of_the_same_keys(attend: VarlenAttention) -> None:
    query, keys, values, segments = pooled(((4, 6), (4, 6), (2, 6)))
    segments.key_starts[:] = segments.key_starts[0].clone()
    case = Pooled(query, keys, values, segments)
    assert_mixed(attend(*case), case)


@everyone
@pytest.mark.parametrize("starts", [(1, 31, 61), (61, 31, 1), (1, 61, 31)])
def test_like_slots_may_lie_in_any_order(attend: VarlenAttention, starts: tuple[int, int, int]) -> None:
    segments = Segments(torch.tensor([0, 3, 6, 9]), torch.tensor(starts), torch.tensor([20] * 3), 3, 20)
    case = Pooled(normal(9, 2, 8), normal(90, 1, 8, seed=1), normal(90, 1, 8, seed=2), segments)
    assert_mixed(attend(*case), case)


@everyone
def test_rows_before_the_first_slot_are_padding(attend: VarlenAttention) -> None:
    query, keys, values, segments = pooled(RAGGED[1])
    moved = segments._replace(query_starts=segments.query_starts + 2)
    found = attend(torch.cat((query[-2:], query)), keys, values, moved)
    assert not found[:2].any()
    assert torch.equal(found[2:], attend(query, keys, values, segments))


@everyone
def test_none_ask_and_none_are_answered(attend: VarlenAttention) -> None:
    case = pooled(((0, 5), (0, 1)), padding=4)
    assert_mixed(attend(*case), case)
    nobody = pooled(((0, 5),), padding=0)
    assert attend(*nobody).shape == (0, 2, 8)


@everyone
def test_heads_of_the_query_may_lie_apart(attend: VarlenAttention) -> None:
    case = pooled(RAGGED[1])
    scattered = case._replace(query=poisoned(case.query.transpose(0, 1)).transpose(0, 1))
    assert_mixed(attend(*scattered), case)


@pytest.fixture
def bfloat16_dots(monkeypatch: pytest.MonkeyPatch) -> None:
    """The interpreter keeps bfloat16 as integers and multiplies those; give its dot the numbers they stand for."""
    dot = InterpreterBuilder.create_dot

    def numbers(handle: TensorHandle) -> TensorHandle:
        if handle.dtype.scalar != tl.bfloat16:
            return handle
        return TensorHandle((handle.data.astype(np.uint32) << 16).view(np.float32), tl.float32)

    def create_dot(self: InterpreterBuilder, left: TensorHandle, right: TensorHandle, *rest: object) -> TensorHandle:
        return dot(self, numbers(left), numbers(right), *rest)

    monkeypatch.setattr(InterpreterBuilder, "create_dot", create_dot)


@pytest.mark.usefixtures("bfloat16_dots")
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("heads", HEADS, ids=str)
def test_the_kernel_takes_any_precision(heads: tuple[int, int, int], dtype: torch.dtype) -> None:
    case = pooled(((63, 130), (0, 1), (17, 64)), heads, dtype=dtype)
    assert_mixed(kernel(*case), case)


def test_scores_that_no_exponential_holds_are_mixed() -> None:
    query, keys, values, segments = pooled(RAGGED[1])
    case = Pooled(query * 300, keys * 10, values, segments)
    assert_mixed(kernel(*case), Pooled(*case[:3], segments))


@pytest.mark.usefixtures("bfloat16_dots")
def test_places_beyond_two_to_the_31_elements_are_reached(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.UntypedStorage, "copy_", lambda self, source: self)  # the interpreter's, onto itself
    case = far_apart(torch.device("cpu"))
    assert_mixed(kernel(*case), case)


@everyone
@given(
    slots=st.lists(st.tuples(st.integers(0, 9), st.integers(1, 40)), min_size=1, max_size=6),
    heads=st.sampled_from(HEADS),
    padding=st.integers(0, 5),
    seed=st.integers(0, 2**16),
)
@settings(max_examples=25)
def test_any_mix_is_each_slot_alone(
    attend: VarlenAttention, slots: list[tuple[int, int]], heads: tuple[int, int, int], padding: int, seed: int
) -> None:
    case = pooled(slots, heads, padding=padding, seed=seed)
    assert_mixed(attend(*case), case)


def test_the_reference_reads_nothing_on_the_host() -> None:
    case = pooled(RAGGED[2])
    on_meta = case.to(torch.device("meta"))
    assert reference(*on_meta).shape == case.query.shape  # a tensor without data has nothing to read
    with pytest.raises(NotImplementedError):
        Looped()(*on_meta)


def test_the_device_chooses() -> None:
    assert isinstance(varlen_attention_for(torch.device("cpu")), Looped)
    assert varlen_attention_for(torch.device("cuda", 1)) is kernel


def test_segments_are_read_once_and_the_next_ones_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    attend, first, second = Looped(), pooled(RAGGED[1]), pooled(RAGGED[2])
    assert_mixed(attend(*first), first)
    with monkeypatch.context() as without:
        without.setattr(torch.Tensor, "tolist", None)
        again = attend(*first)
    assert_mixed(again, first)
    assert_mixed(attend(*second), second)
