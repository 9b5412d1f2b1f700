"""How many of a block's masks one step commits, the most confident first.

Counts, not positions: a rule sees one row's confidences in descending order and says how long a run of them is taken.
Every rule takes at least what the schedule has due, so that `steps_per_token` bounds the steps whatever the rule.
Confidence is on the scale of the row's remasking rule; it is a probability for `low_confidence` only.

Legend: M masked positions of one row's current block.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import nextafter
from types import MappingProxyType

import torch
from torch import Tensor

from seer_core.types import Decoding

CommitRule = Callable[[Tensor, int, Decoding], int]
"""(confidence [M], descending; masks due by the schedule, 1 to M; the row's options) -> commits, from due to M."""


def schedule(confidence: Tensor, due: int, decoding: Decoding) -> int:  # noqa: ARG001 - the rules' common interface
    """What is due, however sure the model is."""
    return due


def threshold(confidence: Tensor, due: int, decoding: Decoding) -> int:
    """All that are at least `commit_threshold` sure; from 1 on none is."""
    # A softmax stays below 1, though float64 may round it up to it.
    sure = confidence.clamp(max=nextafter(1, 0)) >= decoding.commit_threshold
    return max(due, int(sure.sum()))


def factor(confidence: Tensor, due: int, decoding: Decoding) -> int:
    """The longest run of n whose last and least sure, c, has `(n + 1) * (1 - c) < commit_factor`."""
    # The product grows along the descending confidences, so that those below the factor are a run from the first.
    doubt = torch.arange(2, len(confidence) + 2, device=confidence.device) * (1 - confidence)
    return max(due, int((doubt < decoding.commit_factor).sum()))


COMMITS: Mapping[str, CommitRule] = MappingProxyType({"schedule": schedule, "threshold": threshold, "factor": factor})
