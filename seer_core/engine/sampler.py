"""Which token each masked position proposes, and in which order the proposals may be committed.

Legend: M masked positions of one row's current block, V vocabulary.
No row's randomness depends on who else runs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
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
    parts = torch.split(logits, [ask.holes for ask in asks])
    found: list[Proposal | EngineError | None] = [None] * len(asks)
    for measure in dict.fromkeys(filter(None, map(_greedy, asks))):
        rows = [n for n, ask in enumerate(asks) if _greedy(ask) == measure]
        together = logits if len(rows) == len(asks) else torch.cat([parts[n] for n in rows])
        tokens, values = (each.cpu() for each in confidence_for(logits.device)(together, mask_id, measure))
        counts = [asks[n].holes for n in rows]
        for n, own_tokens, own_values in zip(rows, tokens.split(counts), values.split(counts), strict=True):
            found[n] = _kept(lambda proposal=Proposal(own_tokens, own_values): _finite(proposal))
    for n, ask in enumerate(asks):
        if found[n] is None:
            found[n] = _kept(lambda own=parts[n], ask=ask: propose(own, mask_id=mask_id, ask=ask).on_host())
    return [each for each in found if each is not None]


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


def _kept(made: Callable[[], Proposal]) -> Proposal | EngineError:
    try:
        return made()
    except EngineError as error:
        return error


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
