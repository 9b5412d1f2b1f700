"""The definition of the greedy proposal and its confidence, in plain torch. Knows no canvas and no rule of commitment.

Legend: M rows, V vocabulary.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from seer_core.kernels.confidence.measure import MEASURES, Measure


class Confidence(NamedTuple):
    """Tokens int64 [M] and how sure each is, float64 [M]."""

    tokens: Tensor
    values: Tensor


def confidence(logits: Tensor, excluded: int, measure: Measure) -> Confidence:
    """The likeliest token of each row of `logits` [M, V], V >= 2, any float dtype; of equals the lowest.

    `excluded` is never the token, though it takes part in the softmax, which is float64. A row with a NaN or +inf, or
    with nothing above -inf beside `excluded`, has the value NaN, and its token says nothing.
    """
    raw = logits.double()
    best, tokens = raw.index_fill(-1, torch.tensor([excluded], device=raw.device), -torch.inf).max(-1)
    values = MEASURES[measure](raw.softmax(-1), tokens)
    return Confidence(tokens, values.masked_fill(~best.isfinite(), torch.nan))
