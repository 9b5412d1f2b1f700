"""Attention of packed queries over extents of one pool of keys, the inner loop of a step with ragged rows."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from seer_core.kernels.varlen_attention import reference
from seer_core.kernels.varlen_attention.looped import Looped
from seer_core.kernels.varlen_attention.segments import Segments

__all__ = ["Segments", "VarlenAttention", "captured_attention_for", "varlen_attention_for"]

VarlenAttention = Callable[[Tensor, Tensor, Tensor, Segments], Tensor]
"""(query, keys, values, segments) -> mixed values, as `reference.varlen_attention` defines them."""


def varlen_attention_for(device: torch.device) -> VarlenAttention:
    """The fastest implementation for tensors on `device`, for one thread.

    That of a CPU reads the segments, so no graph records it, and reads again only what is another object.
    """
    if device.type == "cuda":
        from seer_core.kernels.varlen_attention.kernel import varlen_attention  # Triton exists where CUDA does

        return varlen_attention
    return Looped()


def captured_attention_for(device: torch.device) -> VarlenAttention:
    """The fastest that a graph can record."""
    return varlen_attention_for(device) if device.type == "cuda" else reference.varlen_attention
