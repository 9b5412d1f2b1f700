"""The definition of a step's inputs, in plain torch. Knows no schedule: the table says what to compute.

Legend: N canvases of W slots, R row slots, T packed positions, E end tokens. Reads nothing on the host, and
fills where `torch.where` would copy its scalar from there.
"""

from __future__ import annotations

import torch
from torch import Tensor

from seer_core.kernels.compact.packed import Packed


def compact(canvases: Tensor, table: Tensor, ends: Tensor, *, mask_id: int, last: int, out: Packed) -> None:
    """Fill `out` with the positions that `table` asks for, and say how far each of its rows is.

    `canvases` int64 [N, W], neither of them 0; `table` int64 [R, 8], a `Slot` a row; `ends` int64 [E], perhaps none,
    and never the mask. A slot owns the pack up to where the next begins, the last one up to `last`; what it owns beyond
    its `stop - first` positions is padding, and so is the pack from `last` on.
    """
    _positions(canvases, table, mask_id, last, out)
    _rows(canvases, table, ends, mask_id, out)


def _positions(canvases: Tensor, table: Tensor, mask_id: int, last: int, out: Packed) -> None:
    out.query_starts[:-1].copy_(table[:, 6])
    out.query_starts[-1:].fill_(last)
    packed = torch.arange(out.ids.shape[0], device=table.device)
    slots = torch.searchsorted(out.query_starts[1:], packed, right=True)  # how many have ended
    slot = table[slots.clamp(max=table.shape[0] - 1)]  # [T, 8]
    source, first, stop, prompt, _, key_start, query_start, shift = slot.unbind(1)
    absolute = first + packed - query_start
    padding = (packed >= last) | (absolute < first) | (absolute >= stop) | (source < 0)
    unwritten = padding | (absolute < prompt)
    column = (absolute - prompt).clamp(0, canvases.shape[1] - 1)
    out.ids.copy_(canvases[source.clamp(min=0), column].masked_fill(unwritten, mask_id))
    out.positions.copy_((absolute + shift.masked_fill(unwritten, 0)).masked_fill(padding, 0))
    out.places.copy_((absolute + key_start).masked_fill(padding, 0))


def _rows(canvases: Tensor, table: Tensor, ends: Tensor, mask_id: int, out: Packed) -> None:
    source, _, _, prompt, length, key_start, _, _ = table.unbind(1)
    empty = source < 0
    out.key_starts.copy_(key_start.masked_fill(empty, 0))
    out.key_lengths.copy_((prompt + length).masked_fill(empty, 1))
    length = length.masked_fill(empty, 0)[:, None]
    rows = canvases[source.clamp(min=0)]  # [R, W]
    column = torch.arange(rows.shape[1], device=rows.device)
    settled = column.where((rows == mask_id) & (column < length), length).amin(1)
    beyond = rows.shape[1]
    ending = (rows[..., None] == ends).any(-1) & (column < settled[:, None])
    end = column.masked_fill(~ending, beyond).amin(1)
    out.control[:, 0] = settled
    out.control[:, 1] = end.masked_fill(end == beyond, -1)
