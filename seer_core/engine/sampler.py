"""Which token each masked position proposes, and in which order the proposals may be committed.

Legend: M masked positions of one row's current block, V vocabulary.
No row's randomness depends on who else runs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
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

    def on_host(self) -> Proposal:
        return Proposal(self.tokens.cpu(), self.confidence.cpu())


class Ranking(NamedTuple):
    """Confidence float64 [M], descending, and whose it is, int64 [M]."""

    confidence: Tensor
    order: Tensor


class Ask(NamedTuple):
    """What one row wants proposed: tokens for `holes` masked positions, by its own rules."""

    holes: int
    sampling: Sampling
    rule: Remasking
    step: int


def propose(logits: Tensor, *, mask_id: int, ask: Ask) -> Proposal:
    """The proposals of one row's raw `logits` [M, V]. Raises `EngineError` for logits that are not finite."""
    measure = _greedy(ask)
    if measure is not None:
        return _finite(Proposal(*confidence_for(logits.device)(logits, mask_id, measure)))
    generator = _generator(ask.sampling.seed, ask.step, logits.device)
    raw = logits.double()
    tokens = _draw(raw, mask_id, ask.sampling, generator)
    return Proposal(tokens, ask.rule(raw.softmax(-1), tokens, generator))


def propose_together(logits: Tensor, *, mask_id: int, asks: Sequence[Ask]) -> list[Proposal | EngineError]:
    """What `propose` gives for each row of the raw `logits` [M, V] of all rows, on the host, or why it gives nothing.

    Greedy rows of one measure are read in one pass.
    """
    counts = [ask.holes for ask in asks]
    measures = {measure for ask in asks if (measure := _greedy(ask)) is not None}
    passes = {measure: _read(logits, mask_id, measure, asks) for measure in measures}
    found: list[Proposal | EngineError] = []
    for own, ask in zip(torch.split(logits, counts), asks, strict=True):
        measure = _greedy(ask)
        try:
            found.append(propose(own, mask_id=mask_id, ask=ask) if measure is None else _finite(next(passes[measure])))
        except EngineError as error:
            found.append(error)
    return [each if isinstance(each, EngineError) else each.on_host() for each in found]


def _read(logits: Tensor, mask_id: int, measure: Measure, asks: Sequence[Ask]) -> Iterator[Proposal]:
    """The proposals of all rows that are greedy by `measure`, in their order."""
    mine = [_greedy(ask) == measure for ask in asks]
    counts = [ask.holes for ask, own in zip(asks, mine, strict=True) if own]
    if not all(mine):
        parts = torch.split(logits, [ask.holes for ask in asks])
        logits = torch.cat([part for part, own in zip(parts, mine, strict=True) if own])
    tokens, values = (each.cpu() for each in confidence_for(logits.device)(logits, mask_id, measure))
    return map(Proposal, tokens.split(counts), values.split(counts))


def rank(confidence: Tensor) -> Ranking:
    """`confidence` [M], the highest first; of equals the lower position."""
    return Ranking(*confidence.sort(descending=True, stable=True))


def _greedy(ask: Ask) -> Measure | None:
    """By which measure the row's likeliest tokens are judged, if those are what it takes."""
    return GREEDY_MEASURES.get(ask.rule) if ask.sampling.temperature == 0 else None


def _finite(proposal: Proposal) -> Proposal:
    if not bool(proposal.confidence.isfinite().all()):
        raise EngineError("the model's logits are not finite")
    return proposal


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
