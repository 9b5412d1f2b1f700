"""Pools of keys with NaN wherever a slot has no business, and what attention over them is to give.

`tests/gpu` shows the same cases to the compiled kernel.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from random import Random
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention

from seer_core.kernels.varlen_attention import Segments
from tests.unit.kernels.cases import normal

RAGGED = (
    ((1, 1),),
    ((63, 130), (1, 63), (17, 1)),
    ((0, 1), (5, 70), (0, 1), (0, 9), (5, 70), (33, 64)),
    ((4, 20), (4, 20), (4, 20)),
    ((2, 1000), (3, 65)),
)
"""(queries, keys) of each slot: below, at and beyond the size of a tile, like and unlike neighbours, empty ones."""
HEADS = ((1, 1, 8), (4, 2, 24), (6, 2, 32), (2, 2, 128))
"""(query heads, key heads, head width)."""


class Pooled(NamedTuple):
    """The arguments of `varlen_attention`."""

    query: Tensor
    keys: Tensor
    values: Tensor
    segments: Segments

    def to(self, device: torch.device) -> Pooled:
        starts, keys, lengths, *longest = self.segments
        segments = Segments(starts.to(device), keys.to(device), lengths.to(device), *longest)
        return Pooled(self.query.to(device), self.keys.to(device), self.values.to(device), segments)


def pooled(
    slots: Sequence[tuple[int, int]],
    heads: tuple[int, int, int] = (2, 1, 8),
    *,
    dtype: torch.dtype = torch.float32,
    padding: int = 3,
    seed: int = 0,
) -> Pooled:
    """Slots of (queries, keys), their extents shuffled and apart; NaN everywhere but there and at place 0."""
    query_heads, key_heads, width = heads
    queries, lengths = zip(*slots, strict=True)
    starts, free = [0] * len(slots), 3
    for slot in Random(seed).sample(range(len(slots)), len(slots)):
        starts[slot] = free
        free += lengths[slot] + 2
    pool = torch.full((free, key_heads, 2 * width + 3), torch.nan, dtype=dtype)  # keys and values lie side by side
    for start, length in [(0, 1), *zip(starts, lengths, strict=True)]:
        pool[start : start + length] = normal(length, key_heads, 2 * width + 3, seed=seed + start, scale=1.0).to(dtype)
    query = torch.full((sum(queries) + padding, query_heads, width), torch.nan, dtype=dtype)
    query[: sum(queries)] = normal(sum(queries), query_heads, width, seed=seed, scale=1.0).to(dtype)
    segments = Segments(
        torch.tensor([0, *accumulate(queries)]),
        torch.tensor(starts),
        torch.tensor(lengths),
        max(queries),
        max(lengths),
    )
    return Pooled(query, pool[..., :width], pool[..., width + 3 :], segments)


def far_apart(device: torch.device) -> Pooled:
    """Queries, keys and values whose neighbours lie 2**30 elements apart; memory is only taken where it is touched."""
    stride, width = 2**30 + 7, 24  # a stride that 32 bits hold, an offset that they do not
    field = torch.empty(2 * stride + 192, dtype=torch.bfloat16, device=device)
    rows = [field[start:].as_strided((3, 2, width), (stride, width, 1)) for start in (0, 64, 128)]
    for seed, three in enumerate(rows):
        three.copy_(normal(3, 2, width, seed=seed, scale=1.0))
    starts, keys, lengths = (torch.tensor(of, device=device) for of in ([0, 1, 3], [2, 0], [1, 3]))
    return Pooled(rows[0], rows[1], rows[2], Segments(starts, keys, lengths, max_queries=2, max_keys=3))


def one_slot_at_a_time(case: Pooled) -> Tensor:
    """What `varlen_attention` is to give: each slot alone, its key heads repeated, in float32; 0 at padding."""
    query, keys, values, segments = case
    out = torch.zeros_like(query, dtype=torch.float32)
    share = query.shape[1] // keys.shape[1]
    for slot, (start, length) in enumerate(zip(segments.key_starts, segments.key_lengths, strict=True)):
        rows, places = slice(*segments.query_starts[slot : slot + 2].tolist()), slice(start, start + length)
        own = [pool[places].float().repeat_interleave(share, 1).transpose(0, 1) for pool in (keys, values)]
        out[rows] = scaled_dot_product_attention(query[rows].float().transpose(0, 1), own[0], own[1]).transpose(0, 1)
    return out


def assert_mixed(actual: Tensor, case: Pooled) -> None:
    """Each slot's own keys, to the precision of the dtype, and exactly nothing at padding."""
    assert actual.dtype == case.query.dtype
    held = int(case.segments.query_starts[-1])
    error = 1e-5 if actual.dtype == torch.float32 else 4 * torch.finfo(actual.dtype).eps
    torch.testing.assert_close(actual.cpu().float(), one_slot_at_a_time(case).cpu(), rtol=error, atol=error)
    assert not actual[held:].any()
