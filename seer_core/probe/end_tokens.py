"""The model's own word on where its answer ends: the end tokens' share of every position's distribution at step 0.

Legend: M positions, D hidden width, V vocabulary.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor

from seer_core.types import TokenRoles

CHUNK = 64
"""Positions whose logits exist at once: a float64 row of a large vocabulary is a megabyte."""


class EndTokens(NamedTuple):
    """Probability float64 [M] that a position holds an end token, and bool [M] whether its likeliest token is one."""

    probability: Tensor
    likeliest: Tensor


def end_tokens(logits_of: Callable[[Tensor], Tensor], hidden: Tensor, roles: TokenRoles) -> EndTokens:
    """Of `hidden` [M, D], with `logits_of` the final norm and head. The mask token is never the likeliest."""
    parts = [_of_logits(logits_of(chunk), roles) for chunk in hidden.split(CHUNK)]
    probability, likeliest = zip(*parts, strict=True)
    return EndTokens(torch.cat(probability), torch.cat(likeliest))


def _of_logits(logits: Tensor, roles: TokenRoles) -> EndTokens:
    ends = torch.tensor(sorted(roles.end_ids), device=logits.device)
    raw = logits.double()  # [m, V]
    probability = (raw.index_select(-1, ends).logsumexp(-1) - raw.logsumexp(-1)).exp()
    spoken = raw.index_fill(-1, torch.tensor([roles.mask_id], device=raw.device), -torch.inf)
    return EndTokens(probability.clamp(max=1.0), torch.isin(spoken.argmax(-1), ends))
