"""The share of near-zero activations per position, the quantity Seer reads its boundary from."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from seer_core.kernels.sparsity import reference
from seer_core.kernels.sparsity.reference import sparsity

__all__ = ["GatedSparsity", "gated_sparsity_for", "sparsity"]

GatedSparsity = Callable[[Tensor, Tensor, float], Tensor]
"""(gate, up, eps) -> share per position, as `reference.gated_sparsity` defines it."""


def gated_sparsity_for(device: torch.device) -> GatedSparsity:
    """The implementation for tensors on `device`; choose once and keep it."""
    if device.type == "cuda":
        from seer_core.kernels.sparsity.kernel import gated_sparsity  # Triton exists where CUDA does

        return gated_sparsity
    return reference.gated_sparsity
