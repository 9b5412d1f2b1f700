"""How sure the model is of each proposal: the most confident ones are committed, the rest stays masked.

Legend: M masked positions, V vocabulary. Probabilities are the float64 softmax of the raw logits; the mask token takes
part in it, though it is never proposed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

import torch
from torch import Generator, Tensor

from seer_core.kernels.confidence import Measure, measure

Remasking = Callable[[Tensor, Tensor, Generator], Tensor]
"""(probabilities [M, V], proposed tokens [M], the row's randomness) -> confidence [M]; higher goes first."""


def low_confidence(probabilities: Tensor, tokens: Tensor, generator: Generator) -> Tensor:  # noqa: ARG001 - interface
    """The probability of the proposed token."""
    return measure.probability(probabilities, tokens)


def entropy(probabilities: Tensor, tokens: Tensor, generator: Generator) -> Tensor:  # noqa: ARG001 - interface
    """Negative entropy of the whole distribution."""
    return measure.entropy(probabilities, tokens)


def margin(probabilities: Tensor, tokens: Tensor, generator: Generator) -> Tensor:  # noqa: ARG001 - interface
    """How far the likeliest token is ahead of the second."""
    return measure.margin(probabilities, tokens)


def random(probabilities: Tensor, tokens: Tensor, generator: Generator) -> Tensor:  # noqa: ARG001 - interface
    """A seeded shuffle."""
    return torch.rand(tokens.shape, generator=generator, dtype=torch.float64, device=tokens.device)


def leftmost(probabilities: Tensor, tokens: Tensor, generator: Generator) -> Tensor:  # noqa: ARG001 - interface
    """From left to right."""
    return -torch.arange(len(tokens), dtype=torch.float64, device=tokens.device)


REMASKING: Mapping[str, Remasking] = MappingProxyType(
    {"low_confidence": low_confidence, "entropy": entropy, "margin": margin, "random": random, "leftmost": leftmost}
)

GREEDY_MEASURES: Mapping[Remasking, Measure] = MappingProxyType(
    {low_confidence: "probability", entropy: "entropy", margin: "margin"}
)
"""The rules whose answer for the likeliest tokens comes with those tokens, in one kernel."""
