"""Canvases, tables of slots, and the step they are to make, position by position.

`tests/gpu` shows the same cases to the compiled kernel.
"""

from __future__ import annotations

import torch
from torch import Tensor

from seer_core.kernels.compact import Compact, Packed, Slot

MASK, ENDS = 90, (91, 92)
EMPTY = Slot(source=-1, first=7, stop=9, prompt=1000, length=5, key_start=60, query_start=0, shift=3)


def canvases(rows: int, width: int, *, seed: int = 0) -> Tensor:
    """Tokens below 90, some masks, and now and then an end."""
    numbers = torch.randint(0, 100, (rows, width), generator=torch.Generator().manual_seed(seed))
    return numbers.where(numbers < 93, MASK)


def unfilled(positions: int, slots: int) -> Packed:
    """Memory for a step, full of what nobody should read."""
    fields = [torch.full((size,), -(2**40)) for size in (positions, positions, positions, slots + 1, slots, slots)]
    return Packed._make([*fields, torch.full((slots, 2), -77, dtype=torch.int32)])


def filled(compact: Compact, canvases: Tensor, slots: list[Slot], *, last: int, positions: int) -> Packed:
    out = Packed._make(field.to(canvases.device) for field in unfilled(positions, len(slots)))
    table, ends = (torch.tensor(of, device=canvases.device) for of in (slots, ENDS))
    compact(canvases, table, ends, mask_id=MASK, last=last, out=out)
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
