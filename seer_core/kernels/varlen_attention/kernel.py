"""`varlen_attention` on the device: keys go by in tiles under an online softmax, so no score is ever written.

Legend as in `reference`; one program a slot, a tile of its queries and a head.

Torch's own `varlen_attn` serves no pool: its starts are cumulative, where ours come in any order and empty slots share
place 0; and it is of half precision only, where the reference run is float32.
"""

from __future__ import annotations

import math

import torch
import triton
import triton.language as tl
from torch import Tensor

from seer_core.kernels.varlen_attention.segments import Segments

TILE_BYTES = 16384
"""Of a tile of keys; with as much of values and of queries, and the next on their way, any device has room for it."""


def varlen_attention(query: Tensor, keys: Tensor, values: Tensor, segments: Segments) -> Tensor:
    """As `reference.varlen_attention`, for float32, bfloat16 and float16."""
    out = torch.zeros(query.shape, dtype=query.dtype, device=query.device)
    slots, heads, width = segments.key_starts.shape[0], *query.shape[1:]
    padded_width = max(16, triton.next_power_of_2(width))
    keys_tile = min(64, max(16, TILE_BYTES // (padded_width * query.element_size())))
    queries_tile = min(keys_tile, max(16, triton.next_power_of_2(segments.max_queries)))  # short slots, short tiles
    tiles = triton.cdiv(segments.max_queries, queries_tile)
    if tiles and slots:
        with torch.cuda.device_of(query):
            _attend[(tiles, slots, heads)](
                query,
                keys,
                values,
                out,
                segments.query_starts.contiguous(),
                segments.key_starts.contiguous(),
                segments.key_lengths.contiguous(),
                math.log2(math.e) / math.sqrt(width),  # the kernel's exponentials are powers of 2
                heads // keys.shape[1],
                width,
                *query.stride(),
                *keys.stride(),
                *values.stride(),
                *out.stride(),
                QUERIES=queries_tile,
                KEYS=keys_tile,
                WIDTH=padded_width,
                num_warps=4,
                num_stages=2,
            )
    return out


@triton.jit
def _attend(
    query_at: tl.tensor,
    keys_at: tl.tensor,
    values_at: tl.tensor,
    out_at: tl.tensor,
    query_starts_at: tl.tensor,
    key_starts_at: tl.tensor,
    key_lengths_at: tl.tensor,
    scale: tl.tensor,
    share: tl.tensor,
    width: tl.tensor,
    query_row: tl.tensor,
    query_head: tl.tensor,
    query_unit: tl.tensor,
    key_place: tl.tensor,
    key_head: tl.tensor,
    key_unit: tl.tensor,
    value_place: tl.tensor,
    value_head: tl.tensor,
    value_unit: tl.tensor,
    out_row: tl.tensor,
    out_head: tl.tensor,
    out_unit: tl.tensor,
    QUERIES: tl.constexpr,
    KEYS: tl.constexpr,
    WIDTH: tl.constexpr,
) -> None:
    slot = tl.program_id(1)
    head = tl.program_id(2).to(tl.int64)
    row = tl.load(query_starts_at + slot) + tl.program_id(0) * QUERIES + tl.arange(0, QUERIES)  # int64
    stop = tl.load(query_starts_at + slot + 1)
    if tl.load(query_starts_at + slot) + tl.program_id(0) * QUERIES < stop:
        unit = tl.arange(0, WIDTH).to(tl.int64)
        asked = (row < stop)[:, None] & (unit < width)[None, :]
        query_at += head * query_head
        query = tl.load(query_at + row[:, None] * query_row + unit[None, :] * query_unit, mask=asked, other=0.0)
        keys_at += (head // share) * key_head + tl.load(key_starts_at + slot) * key_place
        values_at += (head // share) * value_head + tl.load(key_starts_at + slot) * value_place
        length = tl.load(key_lengths_at + slot).to(tl.int32)
        highest = tl.full((QUERIES,), float("-inf"), tl.float32)
        total = tl.zeros((QUERIES,), tl.float32)  # of 2 ** (score - highest)
        mixed = tl.zeros((QUERIES, WIDTH), tl.float32)
        for start in range(0, length, KEYS):
            place = (start + tl.arange(0, KEYS)).to(tl.int64)
            own = place < length
            inside = own[:, None] & (unit < width)[None, :]  # what lies outside may be NaN, and 0 * NaN is not 0
            keys = tl.load(keys_at + place[:, None] * key_place + unit[None, :] * key_unit, mask=inside, other=0.0)
            score = tl.dot(query, tl.trans(keys), input_precision="ieee") * scale
            score = tl.where(own[None, :], score, float("-inf"))
            before = highest
            highest = tl.maximum(highest, tl.max(score, 1))
            fade = tl.exp2(before - highest)
            weight = tl.exp2(score - highest[:, None])
            total = total * fade + tl.sum(weight, 1)
            values = tl.load(
                values_at + place[:, None] * value_place + unit[None, :] * value_unit, mask=inside, other=0.0
            )
            mixed = mixed * fade[:, None] + tl.dot(weight.to(values.dtype), values, input_precision="ieee")
        out_at += head * out_head
        out = (mixed / total[:, None]).to(out_at.dtype.element_ty)
        tl.store(out_at + row[:, None] * out_row + unit[None, :] * out_unit, out, mask=asked)
