"""`gated_sparsity` in one pass on the device: the product of gate and up is counted, never written.

Legend: B rows, S positions, d units; one program a position.
"""

from __future__ import annotations

import torch
import triton
import triton.language as tl
from torch import Tensor

CHUNK = 2048


def gated_sparsity(gate: Tensor, up: Tensor, eps: float) -> Tensor:
    """As `reference.gated_sparsity`, for float32, bfloat16 and float16."""
    shares = torch.empty(gate.shape[:-1], dtype=torch.float64, device=gate.device)
    if shares.numel() == 0:
        return shares
    gate, up = _in_three(gate), _in_three(up)  # [B, S, d]
    with torch.cuda.device_of(gate):
        _count[(shares.numel(),)](
            gate,
            up,
            shares,
            eps,
            *gate.shape[1:],
            *gate.stride(),
            *up.stride(),
            CHUNK=CHUNK,
            enable_fp_fusion=False,  # rounds as the reference does
        )
    return shares


def _in_three(values: Tensor) -> Tensor:
    """Leading axes as one: a slice of the canvas positions, [B, S, d] of a longer S, stays a view."""
    return values.reshape(-1, *values.shape[-2:]) if values.ndim > 1 else values[None, None]


@triton.jit
def _count(
    gate_at: tl.tensor,
    up_at: tl.tensor,
    shares_at: tl.tensor,
    eps: tl.tensor,
    positions: tl.tensor,
    units: tl.tensor,
    gate_row: tl.tensor,
    gate_position: tl.tensor,
    gate_unit: tl.tensor,
    up_row: tl.tensor,
    up_position: tl.tensor,
    up_unit: tl.tensor,
    CHUNK: tl.constexpr,
) -> None:
    place = tl.program_id(0).to(tl.int64)  # offsets pass 2**31
    row, position = place // positions, place % positions
    gate_at += row * gate_row + position * gate_position
    up_at += row * up_row + position * up_position
    count = tl.zeros((CHUNK,), tl.int32)
    for start in range(0, units, CHUNK):
        unit = (start + tl.arange(0, CHUNK)).to(tl.int64)
        inside = unit < units
        gate = tl.load(gate_at + unit * gate_unit, mask=inside, other=0.0).to(tl.float32)
        up = tl.load(up_at + unit * up_unit, mask=inside, other=0.0)
        active = (gate / (1.0 + tl.exp(-gate))).to(up.dtype).to(tl.float32)
        product = (active * up.to(tl.float32)).to(up.dtype).to(tl.float32)
        count += ((tl.abs(product) < eps) & inside).to(tl.int32)
    tl.store(shares_at + place, tl.sum(count).to(tl.float64) / units)
