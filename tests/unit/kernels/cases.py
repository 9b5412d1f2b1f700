"""What kernels are shown: awkward sizes, awkward numbers, and memory that poisons whoever leaves its bounds.

`tests/gpu` shows the same cases to the compiled kernels.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from random import Random
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention

from seer_core.kernels.compact import Packed, Slot
from seer_core.kernels.confidence import Confidence
from seer_core.kernels.confidence.measure import MEASURES, Measure
from seer_core.kernels.varlen_attention import Segments

ALL_MEASURES: tuple[Measure, ...] = tuple(MEASURES)
DTYPES = (torch.float32, torch.bfloat16, torch.float16)
VOCABULARIES = ((1, 2), (5, 63), (3, 1000), (3, 4096), (2, 4097), (2, 126464))
"""(rows, vocabulary): below, at and beyond the size of a chunk."""
UNITS = ((1, 1), (7, 63), (3, 1000), (2, 2048), (2, 2049), (1, 12288), (1, 126464))
"""(positions, units)."""
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
MASK, ENDS = 90, (91, 92)


def normal(*shape: int, seed: int = 0, scale: float = 3.0) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed)) * scale


def poisoned(values: Tensor) -> Tensor:
    """The same values, with NaN before, between and behind the last axes' rows."""
    *leading, rows, columns = values.shape
    field = values.new_full((*leading, rows + 2, columns + 5), torch.nan)
    view = field[..., 1:-1, 2:-3]
    view.copy_(values)
    return view


def assert_same(actual: Confidence, expected: Confidence) -> None:
    """Tokens exactly where there is one, confidences to float64's last digits."""
    torch.testing.assert_close(actual.values.cpu(), expected.values, rtol=1e-9, atol=1e-13, equal_nan=True)
    known = ~expected.values.isnan()
    assert torch.equal(actual.tokens.cpu()[known], expected.tokens[known])


def assert_same_shares(actual: Tensor, expected: Tensor, product: Tensor, eps: float) -> None:
    """Shares exactly, but for units whose product lies on eps to the last digits of an exponential."""
    assert actual.shape == expected.shape
    assert actual.dtype == torch.float64
    undecided = ((product.double().abs() - eps).abs() <= spacing(product.dtype) * eps).sum(-1)
    assert torch.all((actual.cpu() - expected).abs() * product.shape[-1] <= undecided + 1e-6)


def spacing(dtype: torch.dtype) -> float:
    """A few units in the last place, relative."""
    return 4 * torch.finfo(dtype).eps


class Pooled(NamedTuple):
    """The arguments of `varlen_attention`."""

    query: Tensor
    keys: Tensor
    values: Tensor
    segments: Segments

    def to(self, device: torch.device) -> Pooled:
        starts, keys, lengths, *longest = self.segments
        segments = Segments(starts.to(device), keys.to(device), lengths.to(device), *longest)
        return Pooled(poisoned(self.query.to(device)), self.keys.to(device), self.values.to(device), segments)


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
    torch.testing.assert_close(actual.cpu().float(), one_slot_at_a_time(case), rtol=error, atol=error)
    assert not actual[held:].any()


def canvases(rows: int, width: int, *, seed: int = 0) -> Tensor:
    """Tokens below 90, some masks, and now and then an end."""
    numbers = torch.randint(0, 100, (rows, width), generator=torch.Generator().manual_seed(seed))
    return numbers.where(numbers < 93, MASK)


def unfilled(positions: int, slots: int) -> Packed:
    """Memory for a step, full of what nobody should read."""
    fields = [torch.full((size,), -(2**40)) for size in (positions, positions, positions, slots + 1, slots, slots)]
    return Packed._make([*fields, torch.full((slots, 2), -77, dtype=torch.int32)])


EMPTY = Slot(source=-1, first=7, stop=9, prompt=1000, length=5, key_start=60, query_start=0, shift=3)
