"""`varlen_attention` for a CPU: one plain attention per run of like slots, over views of the pool.

Padding ragged slots to the longest costs more than it saves there. Reads the segments on the host, so no graph records
it. Legend as in `reference`; a run is B slots.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise
from operator import itemgetter
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention

from seer_core.kernels.varlen_attention.segments import Segments


def varlen_attention(query: Tensor, keys: Tensor, values: Tensor, segments: Segments) -> Tensor:
    """As `reference.varlen_attention`."""
    out = torch.zeros_like(query)
    for run in _runs(segments):
        rows = slice(run.first_query, run.first_query + run.queries * len(run.key_starts))
        mixed = scaled_dot_product_attention(
            query[rows].unflatten(0, (-1, run.queries)).transpose(1, 2),  # [B, H, Q, d]
            _extents(keys, run.key_starts, run.keys).transpose(1, 2),  # [B, G, K, d]
            _extents(values, run.key_starts, run.keys).transpose(1, 2),
            enable_gqa=query.shape[1] != keys.shape[1],
        )
        out[rows] = mixed.transpose(1, 2).flatten(0, 1)
    return out


class _Run(NamedTuple):
    """Neighbouring slots with as many queries each, and as many keys each."""

    first_query: int
    queries: int
    keys: int
    key_starts: list[int]


def _runs(segments: Segments) -> Iterator[_Run]:
    """All slots that ask anything, in order; those that do not leave no gap in the pack."""
    starts: list[int] = segments.query_starts.tolist()
    queries = [stop - start for start, stop in pairwise(starts)]
    slots = zip(starts, queries, segments.key_lengths.tolist(), segments.key_starts.tolist(), strict=False)
    for (count, keys), like in groupby((slot for slot in slots if slot[1]), key=itemgetter(1, 2)):
        run = list(like)
        yield _Run(run[0][0], count, keys, [slot[3] for slot in run])


def _extents(pool: Tensor, starts: Sequence[int], length: int) -> Tensor:
    """[N, G, d] -> [B, length, G, d]: a view where the starts are evenly spaced, as those of one slot are."""
    step = starts[1] - starts[0] if len(starts) > 1 else 0
    if step >= 0 and all(start == starts[0] + i * step for i, start in enumerate(starts)):
        return pool[starts[0] :].as_strided(
            (len(starts), length, *pool.shape[1:]), (step * pool.stride(0), *pool.stride())
        )
    return torch.stack([pool[start : start + length] for start in starts])
