"""The gated SiLU MLP, whose inner activations Seer reads.

Legend: B rows, S positions, D hidden width, F inner width.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from torch import Tensor, nn
from torch.nn.functional import silu

TapName = Literal["gate", "product", "mlp"]
"""`gate` is silu(gate), `product` is silu(gate) * up, the input of the down projection, `mlp` is the MLP's output."""

MlpObserver = Callable[[str, Tensor], None]


class GatedMLP(nn.Module):
    """`down(silu(gate(x)) * up(x))`."""

    def __init__(self, hidden_size: int, inner_size: int) -> None:
        super().__init__()
        self.gate_proj = nn.Linear(hidden_size, inner_size, bias=False)
        self.up_proj = nn.Linear(hidden_size, inner_size, bias=False)
        self.down_proj = nn.Linear(inner_size, hidden_size, bias=False)

    def forward(self, x: Tensor, observe: MlpObserver | None = None) -> Tensor:
        """[B, S, D] -> [B, S, D]; `observe` is told `gate` and `product` [B, S, F] and `mlp` [B, S, D]."""
        gate = silu(self.gate_proj(x), inplace=True)
        if observe is None:
            unseen: Tensor = self.down_proj(gate.mul_(self.up_proj(x)))  # nobody keeps the gate
            return unseen
        product = gate * self.up_proj(x)
        out: Tensor = self.down_proj(product)
        observe("gate", gate)
        observe("product", product)
        observe("mlp", out)
        return out
