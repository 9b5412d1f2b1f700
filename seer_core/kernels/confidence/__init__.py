"""The likeliest token of each row and how sure it is, the innermost loop of greedy decoding."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from seer_core.kernels.confidence import reference
from seer_core.kernels.confidence.measure import Measure
from seer_core.kernels.confidence.reference import Confidence

__all__ = ["Confide", "Confidence", "Measure", "confidence_for"]

Confide = Callable[[Tensor, int, Measure], Confidence]
"""(logits, excluded id, measure) -> tokens and their confidence, as `reference.confidence` defines it."""


def confidence_for(device: torch.device) -> Confide:
    """The implementation for tensors on `device`."""
    if device.type == "cuda":
        from seer_core.kernels.confidence.kernel import confidence  # Triton exists where CUDA does

        return confidence
    return reference.confidence
