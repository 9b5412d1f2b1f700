"""The definition of a step's inputs, and its kernel in Triton's interpreter against it."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from seer_core.kernels.compact import Compact, Packed, Slot, compact_for
from seer_core.kernels.compact.kernel import compact as kernel
from seer_core.kernels.compact.reference import compact as reference
from tests.unit.kernels.steps import EMPTY, ENDS, MASK, assert_filled, canvases, expected, filled, unfilled

everyone = pytest.mark.parametrize("compact", [reference, kernel], ids=["reference", "kernel"])


@everyone
def test_a_row_computes_its_prompt_and_its_canvas(compact: Compact) -> None:
    tokens = torch.tensor([[11, 12, MASK, 13, 99]])
    slot = Slot(source=0, first=0, stop=7, prompt=3, length=4, key_start=20, query_start=0, shift=100)
    out = filled(compact, tokens, [slot], last=7, positions=9)
    assert out.ids.tolist() == [MASK, MASK, MASK, 11, 12, MASK, 13, MASK, MASK]
    assert out.positions.tolist() == [0, 1, 2, 103, 104, 105, 106, 0, 0]
    assert out.places.tolist() == [20, 21, 22, 23, 24, 25, 26, 0, 0]
    assert out.query_starts.tolist() == [0, 7]
    assert out.key_starts.tolist() == [20]
    assert out.key_lengths.tolist() == [7]


@everyone
def test_a_block_takes_only_its_positions(compact: Compact) -> None:
    slot = Slot(source=1, first=5, stop=7, prompt=3, length=6, key_start=1, query_start=0, shift=0)
    out = filled(compact, torch.arange(12).view(2, 6), [slot], last=2, positions=2)
    assert out.ids.tolist() == [8, 9]
    assert out.positions.tolist() == [5, 6]
    assert out.places.tolist() == [6, 7]


@everyone
def test_packed_slots_follow_each_other_and_bucketed_ones_are_padded(compact: Compact) -> None:
    tokens = torch.arange(10).view(2, 5)
    first = Slot(source=0, first=2, stop=5, prompt=2, length=5, key_start=1, query_start=0, shift=0)
    second = Slot(source=1, first=3, stop=5, prompt=0, length=5, key_start=8, query_start=3, shift=0)
    packed = filled(compact, tokens, [first, second], last=5, positions=6)
    assert packed.ids.tolist() == [0, 1, 2, 8, 9, MASK]
    bucketed = filled(compact, tokens, [first, second._replace(query_start=4)], last=8, positions=8)
    assert bucketed.ids.tolist() == [0, 1, 2, MASK, 8, 9, MASK, MASK]
    assert bucketed.places.tolist() == [3, 4, 5, 0, 11, 12, 0, 0]
    assert bucketed.query_starts.tolist() == [0, 4, 8]


@everyone
def test_a_slot_computes_no_more_than_it_owns(compact: Compact) -> None:
    slot = Slot(source=0, first=0, stop=5, prompt=0, length=5, key_start=1, query_start=0, shift=0)
    out = filled(compact, torch.arange(5)[None], [slot, slot._replace(query_start=3)], last=5, positions=7)
    assert out.ids.tolist() == [0, 1, 2, 0, 1, MASK, MASK]
    assert out.places.tolist() == [1, 2, 3, 1, 2, 0, 0]


@everyone
def test_an_empty_slot_attends_to_the_first_place_and_computes_nothing(compact: Compact) -> None:
    slot = Slot(source=0, first=0, stop=2, prompt=0, length=2, key_start=1, query_start=4, shift=0)
    slots = [EMPTY, slot, EMPTY._replace(query_start=8)]
    out = filled(compact, torch.tensor([[5, 6]]), slots, last=12, positions=12)
    assert out.ids.tolist() == [MASK] * 4 + [5, 6] + [MASK] * 6
    assert out.places.tolist() == [0] * 4 + [1, 2] + [0] * 6
    assert out.key_starts.tolist() == [0, 1, 0]
    assert out.key_lengths.tolist() == [1, 2, 1]
    assert out.control.tolist() == [[0, -1], [2, -1], [0, -1]]


@everyone
@pytest.mark.parametrize(
    ("tokens", "settled", "end"),
    [
        ([1, 2, 3, 4], 4, -1),
        ([MASK, 91, 3, 4], 0, -1),
        ([1, 92, MASK, 91], 2, 1),
        ([1, 2, MASK, 91], 2, -1),
        ([91, 92, 1, 2], 4, 0),
        ([1, 2, 3, 92], 4, 3),
    ],
)
def test_a_row_is_settled_up_to_its_first_mask(compact: Compact, tokens: list[int], settled: int, end: int) -> None:
    beyond = [*tokens, MASK, 91]  # of another, longer canvas
    slot = Slot(source=0, first=0, stop=4, prompt=0, length=4, key_start=1, query_start=0, shift=0)
    out = filled(compact, torch.tensor([beyond]), [slot], last=4, positions=4)
    assert out.control.tolist() == [[settled, end]]


@everyone
def test_without_end_tokens_nothing_ends(compact: Compact) -> None:
    slot = Slot(source=0, first=0, stop=3, prompt=0, length=3, key_start=1, query_start=0, shift=0)
    out = unfilled(3, 1)
    none = torch.empty(0, dtype=torch.int64)
    compact(torch.tensor([[91, 92, 5]]), torch.tensor([slot]), none, mask_id=MASK, last=3, out=out)
    assert out.control.tolist() == [[3, -1]]


@everyone
@pytest.mark.parametrize("width", [1, 63, 1000, 1025])
def test_long_canvases_are_seen_to_their_ends(compact: Compact, width: int) -> None:
    tokens = torch.full((3, width), 7)
    tokens[1, -1] = MASK
    tokens[2, -1] = 92
    slots = [Slot(r, 0, width + 70, 70, width, 1 + r * 2000, r * (width + 70), -70) for r in range(3)]
    size = {"last": 3 * (width + 70), "positions": 3 * (width + 70) + 5}
    out = filled(compact, tokens, slots, **size)
    assert out.control.tolist() == [[width, -1], [width - 1, -1], [width, width - 1]]
    assert_filled(out, expected(tokens, slots, **size))


@everyone
def test_the_pack_alone_is_written(compact: Compact) -> None:
    around = unfilled(300 + 2, 3 + 2)
    out = Packed._make(field[1:-1] for field in around)
    slots = [Slot(0, 0, 250, 200, 50, 1, 0, 0), EMPTY._replace(query_start=250), Slot(1, 0, 50, 0, 50, 400, 250, 0)]
    tokens = canvases(2, 50)
    compact(tokens, torch.tensor(slots), torch.tensor(ENDS), mask_id=MASK, last=300, out=out)
    assert_filled(out, expected(tokens, slots, last=300, positions=300))
    untouched = unfilled(2, 2)
    for field, nothing in zip(around, untouched, strict=True):
        assert field[0].tolist() == field[-1].tolist() == nothing[0].tolist()


@everyone
def test_canvases_may_be_a_part_of_larger_ones(compact: Compact) -> None:
    tokens = canvases(9, 40).T[1:-1:3, 2:-1]
    slots = [Slot(1, 0, 8, 2, 6, 1, 0, 0), Slot(12, 3, 6, 1, 6, 9, 8, 5)]
    out = filled(compact, tokens, slots, last=11, positions=11)
    assert_filled(out, expected(tokens, slots, last=11, positions=11))


@st.composite
def steps(draw: st.DrawFn) -> tuple[Tensor, list[Slot], int, int]:
    """Canvases, slots of any kind in a packed or a bucketed layout, the end of the last slot, and the pack's size."""
    width = draw(st.integers(1, 12))
    tokens = canvases(draw(st.integers(1, 4)), width, seed=draw(st.integers(0, 2**16)))
    bucket = draw(st.sampled_from([0, 20]))  # 0: packed
    slots, start = [], 0
    for _ in range(draw(st.integers(1, 5))):
        prompt, length = draw(st.integers(0, 8)), draw(st.integers(1, width))
        first = draw(st.integers(0, prompt + length))
        stop = draw(st.integers(first, prompt + length))
        source = draw(st.integers(-1, len(tokens) - 1))
        slots.append(
            Slot(source, first, stop, prompt, length, draw(st.integers(1, 99)), start, draw(st.integers(-3, 3)))
        )
        start += bucket or (stop - first if source >= 0 else 0)
    return tokens, slots, start, start + draw(st.integers(0, 5))


@everyone
@given(step=steps())
@settings(max_examples=25)
def test_any_step_is_what_the_table_says(compact: Compact, step: tuple[Tensor, list[Slot], int, int]) -> None:
    tokens, slots, last, positions = step
    out = filled(compact, tokens, slots, last=last, positions=positions)
    assert_filled(out, expected(tokens, slots, last=last, positions=positions))


def test_the_device_chooses() -> None:
    assert compact_for(torch.device("cpu")) is reference
    assert compact_for(torch.device("cuda", 1)) is kernel
