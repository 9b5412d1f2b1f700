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


class Looped:
    """As `reference.varlen_attention`; segments that come again, as they do in every layer, are read once."""

    def __init__(self) -> None:
        self._segments: Segments | None = None
        self._runs: tuple[_Run, ...] = ()

    def __call__(self, query: Tensor, keys: Tensor, values: Tensor, segments: Segments) -> Tensor:
        if segments is not self._segments:
            self._segments, self._runs = segments, tuple(_runs(segments))
        if len(self._runs) == 1 and self._runs[0].rows == slice(0, len(query)):
            return _mixed(query, keys, values, self._runs[0])
        out = torch.zeros_like(query)
        for run in self._runs:
            out[run.rows] = _mixed(query[run.rows], keys, values, run)
        return out


class _Run(NamedTuple):
    """Neighbouring slots with as many queries each, and as many keys each.

    `step` is how far their extents are apart, or None where they are not evenly so.
    """

    rows: slice
    queries: int
    keys: int
    key_starts: Sequence[int]
    step: int | None


def _mixed(query: Tensor, keys: Tensor, values: Tensor, run: _Run) -> Tensor:
    """[B * Q, H, d] -> [B * Q, H, d]."""
    mixed = scaled_dot_product_attention(
        query.unflatten(0, (-1, run.queries)).transpose(1, 2),  # [B, H, Q, d]
        _extents(keys, run).transpose(1, 2),  # [B, G, K, d]
        _extents(values, run).transpose(1, 2),
        enable_gqa=query.shape[1] != keys.shape[1],
    )
    return mixed.transpose(1, 2).flatten(0, 1)


def _runs(segments: Segments) -> Iterator[_Run]:
    """All slots that ask anything, in order; those that do not leave no gap in the pack."""
    starts: list[int] = segments.query_starts.tolist()
    queries = [stop - start for start, stop in pairwise(starts)]
    slots = zip(starts, queries, segments.key_lengths.tolist(), segments.key_starts.tolist(), strict=False)
    for (count, keys), like in groupby((slot for slot in slots if slot[1]), key=itemgetter(1, 2)):
        run = list(like)
        first, key_starts = run[0][0], [slot[3] for slot in run]
        yield _Run(slice(first, first + count * len(run)), count, keys, key_starts, _step(key_starts))


def _step(starts: Sequence[int]) -> int | None:
    """How far the starts are apart, evenly and upwards, if they are; 0 for one alone."""
    steps = {after - before for before, after in pairwise(starts)} or {0}
    step = steps.pop()
    return step if not steps and step >= 0 else None


def _extents(pool: Tensor, run: _Run) -> Tensor:
    """[N, G, d] -> [B, K, G, d]: a view where the starts are evenly spaced, as those of one slot are."""
    if run.step is None:
        return torch.stack([pool[start : start + run.keys] for start in run.key_starts])
    shape = (len(run.key_starts), run.keys, *pool.shape[1:])
    return pool[run.key_starts[0] :].as_strided(shape, (run.step * pool.stride(0), *pool.stride()))
