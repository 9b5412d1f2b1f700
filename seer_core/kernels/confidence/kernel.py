"""`confidence` on the device: the vocabulary goes by in chunks, so no float64 copy of the logits exists.

Legend: M rows, V vocabulary; one program a row. One sweep gives the token, the two highest logits and the sum of the
softmax. The entropy needs a second: its 1e-10 stands inside the logarithm, beside the finished probability.
"""

from __future__ import annotations

import torch
import triton
import triton.language as tl
from torch import Tensor

from seer_core.kernels.confidence.measure import Measure
from seer_core.kernels.confidence.reference import Confidence

CHUNK = 4096


def confidence(logits: Tensor, excluded: int, measure: Measure) -> Confidence:
    """As `reference.confidence`."""
    rows, vocabulary = logits.shape
    tokens = torch.empty(rows, dtype=torch.int64, device=logits.device)
    values = torch.empty(rows, dtype=torch.float64, device=logits.device)
    if rows:
        with torch.cuda.device_of(logits):
            _sweep[(rows,)](
                logits,
                tokens,
                values,
                excluded,
                vocabulary,
                *logits.stride(),
                MEASURE=measure,
                CHUNK=CHUNK,
                num_warps=8,
                enable_fp_fusion=False,  # rounds as the reference does
            )
    return Confidence(tokens, values)


@triton.jit
def _sweep(
    logits_at: tl.tensor,
    tokens_at: tl.tensor,
    values_at: tl.tensor,
    excluded: tl.tensor,
    vocabulary: tl.tensor,
    row_stride: tl.tensor,
    column_stride: tl.tensor,
    MEASURE: tl.constexpr,
    CHUNK: tl.constexpr,
) -> None:
    row = tl.program_id(0).to(tl.int64)  # offsets pass 2**31
    logits_at += row * row_stride
    best = tl.full((), float("-inf"), tl.float64)
    first = tl.full((), float("-inf"), tl.float64)
    second = tl.full((), float("-inf"), tl.float64)
    token = tl.full((), 0, tl.int64)
    total = tl.full((), 0.0, tl.float64)  # of exp(logit - first)
    for start in range(0, vocabulary, CHUNK):
        column = (start + tl.arange(0, CHUNK)).to(tl.int64)
        logit = _load(logits_at, column, vocabulary, column_stride)
        number = tl.where(logit == logit, logit, float("-inf"))  # a maximum over NaN differs by device
        chunk_best, chunk_token = _highest(tl.where(column == excluded, float("-inf"), number), column)
        token = tl.where(chunk_best > best, chunk_token, token)  # of equals the earlier chunk's
        best = tl.maximum(best, chunk_best)
        chunk_first, chunk_at = _highest(number, column)
        if MEASURE == "margin":
            chunk_second = tl.max(tl.where(column == chunk_at, float("-inf"), number))
            second = tl.maximum(tl.minimum(first, chunk_first), tl.maximum(second, chunk_second))
        before = first
        first = tl.maximum(first, chunk_first)
        total = total * tl.exp(before - _shift(first)) + tl.sum(tl.exp(logit - _shift(first)))
    shift = _shift(first)
    if MEASURE == "probability":
        value = tl.exp(best - shift) / total
    elif MEASURE == "margin":
        value = (tl.exp(first - shift) - tl.exp(second - shift)) / total
    else:
        value = tl.full((), 0.0, tl.float64)
        for start in range(0, vocabulary, CHUNK):
            column = (start + tl.arange(0, CHUNK)).to(tl.int64)
            share = tl.exp(_load(logits_at, column, vocabulary, column_stride) - shift) / total
            value += tl.sum(share * tl.log(share + 1e-10))
    meaningful = (best > float("-inf")) & (first < float("inf"))
    tl.store(tokens_at + row, token)
    tl.store(values_at + row, tl.where(meaningful, value, float("nan")))


@triton.jit
def _load(logits_at: tl.tensor, column: tl.tensor, vocabulary: tl.tensor, stride: tl.tensor) -> tl.tensor:
    return tl.load(logits_at + column * stride, mask=column < vocabulary, other=float("-inf")).to(tl.float64)


@triton.jit
def _highest(values: tl.tensor, column: tl.tensor) -> tl.tensor:
    """The highest value and the lowest column that has it."""
    highest = tl.max(values)
    return highest, tl.min(tl.where(values == highest, column, column + values.shape[0]))


@triton.jit
def _shift(first: tl.tensor) -> tl.tensor:
    """What to subtract inside the exponential; nothing where that would be infinity from infinity."""
    return tl.where(tl.abs(first) < float("inf"), first, 0.0)
