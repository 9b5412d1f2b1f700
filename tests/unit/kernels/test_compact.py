"""The definition of a step's inputs, and its kernel in Triton's interpreter against it."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from seer_core.kernels.compact import Compact, Packed, Slot, compact_for
from seer_core.kernels.compact.reference import compact as reference
from tests.unit.kernels.cases import EMPTY, ENDS, MASK, canvases, unfilled

everyone = pytest.mark.parametrize("compact", [reference], ids=["reference"])


def filled(compact: Compact, canvases: Tensor, slots: list[Slot], *, last: int, positions: int) -> Packed:
    out = unfilled(positions, len(slots))
    compact(canvases, torch.tensor(slots), torch.tensor(ENDS), mask_id=MASK, last=last, out=out)
    return out


def expected(canvases: Tensor, slots: list[Slot], *, last: int, positions: int) -> Packed:
    """Position by position and slot by slot, on the host."""
    out = unfilled(positions, len(slots))
    for field, nothing in ((out.ids, MASK), (out.positions, 0), (out.places, 0)):
        field.fill_(nothing)
    out.query_starts[:] = torch.tensor([slot.query_start for slot in slots] + [last])
    for r, slot in enumerate(slots):
        held = slot.source >= 0
        out.key_starts[r] = slot.key_start if held else 0
        out.key_lengths[r] = slot.prompt + slot.length if held else 1
        out.control[r] = torch.tensor(progress(canvases[slot.source].tolist()[: slot.length]) if held else (0, -1))
        owned = int(out.query_starts[r + 1]) - slot.query_start
        for i, at in enumerate(range(slot.first, slot.stop) if held else ()):
            if i < owned:
                row = slot.query_start + i
                out.places[row] = slot.key_start + at
                out.positions[row] = at + (slot.shift if at >= slot.prompt else 0)
                out.ids[row] = canvases[slot.source, at - slot.prompt] if at >= slot.prompt else MASK
    return out


def progress(tokens: list[int]) -> tuple[int, int]:
    settled = [*tokens, MASK].index(MASK)
    return settled, next((i for i, token in enumerate(tokens[:settled]) if token in ENDS), -1)


def assert_filled(actual: Packed, expected: Packed) -> None:
    for name, left, right in zip(Packed._fields, actual, expected, strict=True):
        assert left.tolist() == right.tolist(), name


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
def test_any_step_is_what_the_table_says(compact: Compact, step: tuple[Tensor, list[Slot], int, int]) -> None:
    tokens, slots, last, positions = step
    out = filled(compact, tokens, slots, last=last, positions=positions)
    assert_filled(out, expected(tokens, slots, last=last, positions=positions))


def test_the_device_chooses() -> None:
    assert compact_for(torch.device("cpu")) is reference
