"""Which token each masked position proposes, and in which order the proposals may be committed.

Legend: M masked positions of one row's current block, V vocabulary.
It sees one row at a time, so no row's randomness depends on who else runs.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import NamedTuple

import torch
from torch import Generator, Tensor

from seer_core.engine.remasking import GREEDY_MEASURES, Remasking
from seer_core.errors import EngineError
from seer_core.kernels.confidence import Measure, confidence_for
from seer_core.types import Sampling


class Proposal(NamedTuple):
    """Tokens int64 [M] and confidence float64 [M]."""

    tokens: Tensor
    confidence: Tensor


class Ranking(NamedTuple):
    """Confidence float64 [M], descending, and whose it is, int64 [M]."""

    confidence: Tensor
    order: Tensor


def propose(logits: Tensor, *, mask_id: int, sampling: Sampling, rule: Remasking, step: int) -> Proposal:
    """The proposals of raw `logits` [M, V] at a row's `step`. Raises `EngineError` for logits that are not finite."""
    measure = GREEDY_MEASURES.get(rule)
    if sampling.temperature == 0 and measure is not None:
        return _surest(logits, mask_id, measure)
    generator = _generator(sampling.seed, step, logits.device)
    raw = logits.double()
    tokens = _draw(raw, mask_id, sampling, generator)
    return Proposal(tokens, rule(raw.softmax(-1), tokens, generator))


def rank(confidence: Tensor) -> Ranking:
    """`confidence` [M], the highest first; of equals the lower position."""
    return Ranking(*confidence.sort(descending=True, stable=True))


def _surest(logits: Tensor, mask_id: int, measure: Measure) -> Proposal:
    tokens, values = confidence_for(logits.device)(logits, mask_id, measure)
    if not bool(values.isfinite().all()):
        raise EngineError("the model's logits are not finite")
    return Proposal(tokens, values)


def _draw(raw: Tensor, mask_id: int, sampling: Sampling, generator: Generator) -> Tensor:
    logits = raw.index_fill(-1, torch.tensor([mask_id], device=raw.device), -torch.inf)
    best, tokens = logits.max(-1)
    if not bool(best.isfinite().all()):
        raise EngineError("the model's logits are not finite")
    if sampling.temperature == 0:
        return tokens
    # Measured from the best, so that however low the temperature the best stays a number.
    logits = _nucleus((logits - best[:, None]) / sampling.temperature, sampling.top_p)
    noise = torch.rand(logits.shape, generator=generator, dtype=torch.float64, device=logits.device)
    return (logits - torch.log(-torch.log(noise))).argmax(-1)  # Gumbel: the argmax is a sample of the softmax


def _nucleus(logits: Tensor, top_p: float) -> Tensor:
    """Only the likeliest tokens that together reach `top_p`; the likeliest always stays."""
    if top_p >= 1:
        return logits
    probabilities, order = logits.softmax(-1).sort(descending=True, stable=True)
    outside = probabilities.cumsum(-1) - probabilities >= top_p
    outside[:, 0] = False
    return logits.masked_fill(torch.zeros_like(outside).scatter(-1, order, outside), -torch.inf)


def _generator(seed: int, step: int, device: torch.device) -> Generator:
    """Randomness of one row at one step; a rerun draws the same."""
    digest = blake2b(f"{seed}/{step}".encode(), digest_size=7).digest()
    return Generator(device).manual_seed(int.from_bytes(digest))
