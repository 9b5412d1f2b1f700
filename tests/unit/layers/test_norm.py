"""RMSNorm: unit size, and the order of casts that matters in half precision."""

from __future__ import annotations

import torch

from seer_core.layers.norm import RMSNorm


def test_rows_come_out_with_unit_mean_square() -> None:
    out = RMSNorm(64, 0.0)(torch.randn(3, 64) * 50)
    torch.testing.assert_close(out.square().mean(-1), torch.ones(3))


def test_the_weight_multiplies_after_the_cast_back() -> None:
    norm = RMSNorm(8, 1e-5).bfloat16()
    norm.weight.data.uniform_(0.5, 1.5)
    x = torch.randn(4, 8).bfloat16()
    wide = x.float() * torch.rsqrt(x.float().square().mean(-1, keepdim=True) + 1e-5)
    assert torch.equal(norm(x), norm.weight * wide.bfloat16())
