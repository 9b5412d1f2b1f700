"""How sure a distribution is, by three measures; higher is surer.

Legend: M rows, V vocabulary. `probabilities` float64 [M, V], `tokens` int64 [M] -> float64 [M].
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Literal

import torch
from torch import Tensor

Measure = Literal["probability", "margin", "entropy"]


def probability(probabilities: Tensor, tokens: Tensor) -> Tensor:
    """That of the token."""
    return probabilities.gather(-1, tokens[:, None])[:, 0]


def margin(probabilities: Tensor, tokens: Tensor) -> Tensor:  # noqa: ARG001 - the measures share one signature
    """How far the likeliest of all is ahead of the second, whichever the token is."""
    first, second = probabilities.topk(2, dim=-1).values.unbind(-1)
    return first - second


def entropy(probabilities: Tensor, tokens: Tensor) -> Tensor:  # noqa: ARG001 - the measures share one signature
    """Negative entropy of the whole distribution; the 1e-10 keeps a probability of zero a number."""
    return (probabilities * torch.log(probabilities + 1e-10)).sum(-1)


MEASURES: Mapping[Measure, Callable[[Tensor, Tensor], Tensor]] = MappingProxyType(
    {"probability": probability, "margin": margin, "entropy": entropy}
)
