"""Every kernel of a device against its reference, on odd sizes and poisoned memory.

The references run on the CPU. Legend as in the kernels' own modules.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, product
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import silu

from seer_core.kernels.compact import Compact, Packed, Slot, compact_for
from seer_core.kernels.compact.reference import compact as compact_reference
from seer_core.kernels.confidence import Confide, confidence_for
from seer_core.kernels.confidence.measure import MEASURES
from seer_core.kernels.confidence.reference import confidence as confidence_reference
from seer_core.kernels.sparsity import GatedSparsity, gated_sparsity_for
from seer_core.kernels.sparsity.reference import gated_sparsity as sparsity_reference
from seer_core.kernels.varlen_attention import Segments, VarlenAttention, varlen_attention_for
from seer_core.kernels.varlen_attention.reference import varlen_attention as attention_reference
from seer_core.tools.gpu_check.sizes import Sizes

DTYPES = (torch.float32, torch.bfloat16, torch.float16)
EPS = 1e-2
UNITS = ((7, 63), (3, 2049), (2, 12288))
SLOTS = (((63, 130), (1, 63), (17, 1)), ((0, 1), (5, 70), (0, 9), (33, 64)), ((2, 1000), (3, 65)))
HEADS = ((4, 2, 24), (2, 2, 128))
MASK, ENDS = 90, (91, 92)


class Kernels(NamedTuple):
    """One of each kind."""

    confidence: Confide
    sparsity: GatedSparsity
    compact: Compact
    attention: VarlenAttention


def kernels_for(device: torch.device) -> Kernels:
    """Those that the software runs there."""
    return Kernels(
        confidence_for(device), gated_sparsity_for(device), compact_for(device), varlen_attention_for(device)
    )


def check_confidence(own: Kernels, device: torch.device, sizes: Sizes) -> dict[str, Any]:
    """Tokens exactly, values to float64's last digits."""
    wrong, worst, cases = 0, 0.0, 0
    for dtype, measure, vocabulary in product(DTYPES, MEASURES, sizes.vocabularies):
        logits = normal(5, vocabulary).to(dtype)
        tokens, values = own.confidence(logits.to(device), 7, measure)
        wanted = confidence_reference(logits, 7, measure)
        wrong += int((tokens.cpu() != wanted.tokens).sum())
        worst = max(worst, float((values.cpu() - wanted.values).abs().max()))
        cases += 1
    return {"ok": wrong == 0 and worst <= 1e-9, "cases": cases, "wrong_tokens": wrong, "worst_value": worst}


def check_sparsity(own: Kernels, device: torch.device, sizes: Sizes) -> dict[str, Any]:  # noqa: ARG001 - as the others
    """Counts exactly, but for products that lie on the threshold to the last digits of an exponential."""
    wrong, undecided = 0, 0
    for dtype, shape in product(DTYPES, UNITS):
        gate, up = normal(*shape).to(dtype), normal(*shape, seed=1).to(dtype)
        shares = own.sparsity(gate.to(device), up.to(device), EPS).cpu()
        edge = (silu(gate) * up).double().abs() - EPS
        free = (edge.abs() <= 4 * torch.finfo(dtype).eps * EPS).sum(-1)
        off = ((shares - sparsity_reference(gate, up, EPS)).abs() * shape[1]).round().long()
        wrong += int((off > free).sum())
        undecided += int(off.sum())
    return {"ok": wrong == 0, "cases": len(DTYPES) * len(UNITS), "wrong": wrong, "undecided": undecided}


def check_compact(own: Kernels, device: torch.device, sizes: Sizes) -> dict[str, Any]:  # noqa: ARG001 - as the others
    """Every number of the next step's inputs."""
    wrong: list[str] = []
    for width in (1, 63, 1000):
        given = _canvases(3, width)
        table, last, positions = _table(width)
        found, wanted = _unfilled(positions, len(table), device), _unfilled(positions, len(table), torch.device("cpu"))
        ends = torch.tensor(ENDS)
        own.compact(given.to(device), table.to(device), ends.to(device), mask_id=MASK, last=last, out=found)
        compact_reference(given, table, ends, mask_id=MASK, last=last, out=wanted)
        pairs = zip(Packed._fields, found, wanted, strict=True)
        wrong += [f"{name} at width {width}" for name, a, b in pairs if not torch.equal(a.cpu(), b)]
    return {"ok": not wrong, "cases": 3, "wrong": wrong}


def check_attention(own: Kernels, device: torch.device, sizes: Sizes) -> dict[str, Any]:  # noqa: ARG001 - as the others
    """To the precision of the dtype; what no slot may see is NaN."""
    worst: dict[str, float] = {}
    for dtype, slots, heads in product(DTYPES, SLOTS, HEADS):
        query, keys, values, segments = pooled(slots, heads, dtype)
        there = segments._replace(**{name: getattr(segments, name).to(device) for name in Segments._fields[:3]})
        found = own.attention(query.to(device), keys.to(device), values.to(device), there).cpu().float()
        wanted = attention_reference(query.float(), keys.float(), values.float(), segments)
        error = float((found - wanted).abs().max()) if found.isfinite().all() else float("inf")
        worst[str(dtype)] = max(worst.get(str(dtype), 0.0), error)
    ok = all(worst[str(dtype)] <= max(1e-5, 8 * torch.finfo(dtype).eps) for dtype in DTYPES)
    return {"ok": ok, "cases": len(DTYPES) * len(SLOTS) * len(HEADS), "worst": worst}


def normal(*shape: int, seed: int = 0) -> Tensor:
    """The same numbers on every machine."""
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed)) * 3


def pooled(
    slots: Sequence[tuple[int, int]], heads: tuple[int, int, int], dtype: torch.dtype
) -> tuple[Tensor, Tensor, Tensor, Segments]:
    """Arguments of attention for slots of (queries, keys); NaN between the extents, three rows of padding."""
    query_heads, key_heads, width = heads
    queries, lengths = zip(*slots, strict=True)
    starts = [1 + before for before in accumulate((length + 2 for length in lengths[:-1]), initial=2)]
    keys, values = (torch.full((starts[-1] + lengths[-1] + 3, key_heads, width), torch.nan) for _ in range(2))
    for seed, pool in enumerate((keys, values)):
        for start, length in [(0, 1), *zip(starts, lengths, strict=True)]:
            pool[start : start + length] = normal(length, key_heads, width, seed=start + seed) / 3
    query = normal(sum(queries) + 3, query_heads, width) / 3
    segments = Segments(
        torch.tensor([0, *accumulate(queries)]), torch.tensor(starts), torch.tensor(lengths), max(queries), max(lengths)
    )
    return query.to(dtype), keys.to(dtype), values.to(dtype), segments


def _table(width: int) -> tuple[Tensor, int, int]:
    """A row with its prompt, an empty slot, a row without, each in a bucket; where the last ends; positions in all."""
    bucket = width + 70
    slots = [
        Slot(2, 3, bucket, 70, width, 1, 0, -70),
        Slot(-1, 7, 9, 1000, 5, 60, bucket, 3),
        Slot(0, 70, bucket - 1, 70, width, 3000, 2 * bucket, 5),
    ]
    return torch.tensor(slots), 3 * bucket, 3 * bucket + 5


def _canvases(rows: int, width: int) -> Tensor:
    numbers = torch.randint(0, 100, (rows, width), generator=torch.Generator().manual_seed(width))
    return numbers.where(numbers < 93, MASK)


def _unfilled(positions: int, slots: int, device: torch.device) -> Packed:
    sizes = (positions, positions, positions, slots + 1, slots, slots)
    fields = [torch.full((size,), -7, device=device) for size in sizes]
    return Packed._make([*fields, torch.full((slots, 2), -7, dtype=torch.int32, device=device)])
