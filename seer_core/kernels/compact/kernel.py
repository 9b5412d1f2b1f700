"""`compact` on the device in one launch: a program a slot, and one a tile of the pack.

Legend: R row slots, T packed positions.
"""

from __future__ import annotations

import torch
import triton
import triton.language as tl
from torch import Tensor

from seer_core.kernels.compact.packed import Packed

TILE = 256
CHUNK = 1024


def compact(canvases: Tensor, table: Tensor, ends: Tensor, *, mask_id: int, last: int, out: Packed) -> None:
    """As `reference.compact`."""
    slots, count = out.key_starts.shape[0], out.ids.shape[0]
    with torch.cuda.device_of(canvases):
        _fill[(slots + triton.cdiv(count, TILE),)](
            canvases,
            table.contiguous(),
            ends.contiguous(),
            *out,
            mask_id,
            last,
            count,
            slots,
            ends.shape[0],
            *canvases.stride(),
            TILE=TILE,
            CHUNK=CHUNK,
        )


@triton.jit(do_not_specialize=["mask_id", "last", "count", "slots", "ends"])
def _fill(
    canvases_at: tl.tensor,
    table_at: tl.tensor,
    ends_at: tl.tensor,
    ids_at: tl.tensor,
    positions_at: tl.tensor,
    places_at: tl.tensor,
    query_starts_at: tl.tensor,
    key_starts_at: tl.tensor,
    key_lengths_at: tl.tensor,
    control_at: tl.tensor,
    mask_id: tl.tensor,
    last: tl.tensor,
    count: tl.tensor,
    slots: tl.tensor,
    ends: tl.tensor,
    canvas_stride: tl.tensor,
    token_stride: tl.tensor,
    TILE: tl.constexpr,
    CHUNK: tl.constexpr,
) -> None:
    program = tl.program_id(0)
    if program < slots:
        tl.store(query_starts_at + program, tl.load(table_at + program * 8 + 6))
        if program == slots - 1:
            tl.store(query_starts_at + slots, last)
        _fill_slot(
            canvases_at,
            table_at + program * 8,
            ends_at,
            key_starts_at + program,
            key_lengths_at + program,
            control_at + program * 2,
            mask_id,
            ends,
            canvas_stride,
            token_stride,
            CHUNK,
        )
    else:
        packed = (program - slots).to(tl.int64) * TILE + tl.arange(0, TILE)
        slot = tl.zeros((TILE,), tl.int64)
        for i in range(1, slots):
            slot += (tl.load(table_at + i * 8 + 6) <= packed).to(tl.int64)  # how many have ended
        slot_at = table_at + slot * 8
        source, first, prompt = tl.load(slot_at), tl.load(slot_at + 1), tl.load(slot_at + 3)
        absolute = first + packed - tl.load(slot_at + 6)
        computed = (packed < last) & (absolute >= first) & (absolute < tl.load(slot_at + 2)) & (source >= 0)
        written = computed & (absolute >= prompt)
        token_at = canvases_at + source * canvas_stride + (absolute - prompt) * token_stride
        inside = packed < count
        tl.store(ids_at + packed, tl.load(token_at, mask=written & inside, other=mask_id), mask=inside)
        turned = absolute + tl.where(written, tl.load(slot_at + 7), 0)
        tl.store(positions_at + packed, tl.where(computed, turned, 0), mask=inside)
        tl.store(places_at + packed, tl.where(computed, absolute + tl.load(slot_at + 5), 0), mask=inside)


@triton.jit
def _fill_slot(
    canvases_at: tl.tensor,
    slot_at: tl.tensor,
    ends_at: tl.tensor,
    key_start_at: tl.tensor,
    key_length_at: tl.tensor,
    control_at: tl.tensor,
    mask_id: tl.tensor,
    ends: tl.tensor,
    canvas_stride: tl.tensor,
    token_stride: tl.tensor,
    CHUNK: tl.constexpr,
) -> None:
    source = tl.load(slot_at)
    held = source >= 0
    tl.store(key_start_at, tl.where(held, tl.load(slot_at + 5), 0))
    tl.store(key_length_at, tl.where(held, tl.load(slot_at + 3) + tl.load(slot_at + 4), 1))
    length = tl.where(held, tl.load(slot_at + 4), 0)
    settled, end = length, length
    for start in range(0, length.to(tl.int32), CHUNK):
        column = (start + tl.arange(0, CHUNK)).to(tl.int64)
        inside = column < length
        token = tl.load(canvases_at + source * canvas_stride + column * token_stride, mask=inside, other=mask_id)
        ending = tl.zeros((CHUNK,), tl.int32)
        for i in range(ends):
            ending |= (token == tl.load(ends_at + i)).to(tl.int32)
        settled = tl.minimum(settled, tl.min(tl.where((token == mask_id) & inside, column, length)))
        end = tl.minimum(end, tl.min(tl.where((ending != 0) & inside, column, length)))
    tl.store(control_at, settled.to(tl.int32))
    tl.store(control_at + 1, tl.where(end < settled, end, -1).to(tl.int32))
