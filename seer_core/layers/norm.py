"""Root-mean-square normalisation, computed in float32 whatever the dtype around it."""

from __future__ import annotations

import torch
from torch import Tensor, nn


class RMSNorm(nn.Module):
    """`x / rms(x) * weight` over the last axis; cast back before the weight multiplies, as LLaDA's reference does."""

    def __init__(self, size: int, eps: float) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(size))
        self.eps = eps

    def forward(self, x: Tensor) -> Tensor:
        wide = x.float()
        length = torch.linalg.vector_norm(wide, dim=-1, keepdim=True)  # one pass, no square of the whole is written
        scale = torch.rsqrt(length.square() / x.shape[-1] + self.eps)
        return (wide * scale).to(x.dtype).mul_(self.weight)
