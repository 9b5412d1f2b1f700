"""How many of a block's masks one step commits, the most confident first.

Counts, not positions: a rule sees one row's confidences in descending order and says how long a run of them is taken.
Every rule takes at least what the schedule has due, so that `steps_per_token` bounds the steps whatever the rule; only
`confident` may take less.
Confidence is on the scale of the row's remasking rule; it is a probability for `low_confidence` only.

Legend: M masked positions of one row's current block.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import nextafter
from types import MappingProxyType

import torch
from torch import Tensor


@dataclass(frozen=True, slots=True, kw_only=True)
class CommitNumbers:
    """How sure is sure, for the rules that ask."""

    threshold: float = 0.9
    factor: float = 1.0


CommitRule = Callable[[Tensor, int, CommitNumbers], int]
"""(confidence [M], descending; masks due by the schedule, up to M; the row's numbers) -> commits, up to M."""


def schedule(confidence: Tensor, due: int, numbers: CommitNumbers) -> int:  # noqa: ARG001 - the rules' common interface
    """What is due, however sure the model is."""
    return due


def threshold(confidence: Tensor, due: int, numbers: CommitNumbers) -> int:
    """All that are at least `threshold` sure; from 1 on none is."""
    # A softmax stays below 1, though float64 may round it up to it.
    sure = confidence.clamp(max=nextafter(1, 0)) >= numbers.threshold
    return max(due, int(sure.sum()))


def factor(confidence: Tensor, due: int, numbers: CommitNumbers) -> int:
    """The longest run of n whose last and least sure, c, has `(n + 1) * (1 - c) < factor`."""
    # The product grows along the descending confidences, so that those below the factor are a run from the first.
    doubt = torch.arange(2, len(confidence) + 2, device=confidence.device) * (1 - confidence)
    return max(due, int((doubt < numbers.factor).sum()))


def confident(confidence: Tensor, due: int, numbers: CommitNumbers) -> int:
    """All that are surer than `threshold`, and what is due where none is. Source: Dimple's confident decoding."""
    return int((confidence > numbers.threshold).sum()) or due


COMMITS: Mapping[str, CommitRule] = MappingProxyType(
    {"schedule": schedule, "threshold": threshold, "factor": factor, "confident": confident}
)
