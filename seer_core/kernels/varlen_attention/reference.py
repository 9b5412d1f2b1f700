"""The definition of attention over a pool, in plain torch. Knows no canvas, no rotation and no projection.

Legend: T packed rows, N places, H query heads, G key heads, d head width, R row slots, Q and K queries and keys of the
longest slot. Reads nothing on the host and has no shape that depends on data, so a graph can record it; for that it
fills where `torch.where` would copy its scalar from the host.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention

from seer_core.kernels.varlen_attention.segments import Segments


def varlen_attention(query: Tensor, keys: Tensor, values: Tensor, segments: Segments) -> Tensor:
    """Every query [T, H, d] over all keys of its slot, in `keys` and `values` [N, G, d] -> [T, H, d]; padding gets 0.

    Bidirectional, scaled by 1/sqrt(d). H is a multiple of G, and G heads in a row share a key head. Place 0 of the pool
    holds finite numbers, and so do the places of each slot; what the others hold is never seen.
    """
    if not query.shape[0] or not segments.max_queries:
        return torch.zeros_like(query)
    places, attended = _places(segments)  # [R, K]
    rows = segments.query_starts[:-1, None] + torch.arange(segments.max_queries, device=query.device)  # [R, Q]
    asked = query[rows.clamp(0, query.shape[0] - 1)]  # [R, Q, H, d]
    mixed = scaled_dot_product_attention(
        asked.transpose(1, 2),
        keys[places].transpose(1, 2),
        values[places].transpose(1, 2),
        attn_mask=attended[:, None, None],
        enable_gqa=query.shape[1] != keys.shape[1],
    )
    return _packed(mixed.transpose(1, 2), query.shape[0], segments.query_starts)


def _places(segments: Segments) -> tuple[Tensor, Tensor]:
    """The places of each slot and which of them are its own, [R, K]; the rest is place 0, which is finite."""
    offsets = torch.arange(segments.max_keys, device=segments.key_starts.device)
    others = offsets >= segments.key_lengths[:, None]
    return (segments.key_starts[:, None] + offsets).masked_fill(others, 0), ~others


def _packed(mixed: Tensor, count: int, starts: Tensor) -> Tensor:
    """[R, Q, H, d] back to [T, H, d]."""
    rows = torch.arange(count, device=mixed.device)
    slots = torch.searchsorted(starts[1:], rows, right=True)  # how many have ended
    padding = (slots >= mixed.shape[0]) | (rows < starts[0])
    slots = slots.clamp(max=mixed.shape[0] - 1)
    offsets = (rows - starts[slots]).clamp(0, mixed.shape[1] - 1)
    return mixed[slots, offsets].masked_fill(padding[:, None, None], 0)
