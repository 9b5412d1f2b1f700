"""The definition of the greedy proposal and its confidence, in plain torch. Knows no canvas and no rule of commitment.

Legend: M rows, V vocabulary.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from seer_core.kernels.confidence.measure import MEASURES, Measure

CHUNK_NUMBERS = 2**16
"""Logits at a time, so that their float64 copies stay where a processor has them at hand."""


class Confidence(NamedTuple):
    """Tokens int64 [M] and how sure each is, float64 [M]."""

    tokens: Tensor
    values: Tensor


def confidence(logits: Tensor, excluded: int, measure: Measure) -> Confidence:
    """The likeliest token of each row of `logits` [M, V], V >= 2, any float dtype; of equals the lowest.

    `excluded` is never the token, though it takes part in the softmax, which is float64. A row with a NaN or +inf, or
    with nothing above -inf beside `excluded`, has the value NaN, and its token says nothing.
    """
    rows = max(1, CHUNK_NUMBERS // logits.shape[1])
    parts = [_confidence(part, excluded, measure) for part in logits.split(rows)]
    return parts[0] if len(parts) == 1 else Confidence(*map(torch.cat, zip(*parts, strict=True)))


def _confidence(logits: Tensor, excluded: int, measure: Measure) -> Confidence:
    raw = logits.to(torch.float64, copy=True)
    probabilities = raw.softmax(-1)
    raw[:, excluded] = -torch.inf
    best, tokens = raw.max(-1)
    values = MEASURES[measure](probabilities, tokens)
    return Confidence(tokens, values.masked_fill(~best.isfinite(), torch.nan))
