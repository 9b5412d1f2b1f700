"""Bidirectional attention with an optional prompt in front.

Legend: B rows, S own positions, P prompt positions, D hidden width, H query heads, G key heads, d head width.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.functional import scaled_dot_product_attention

from seer_core.layers.rotary import Rotation, rotate

KeysValues = tuple[Tensor, Tensor]
"""Keys and values of one layer, each [B, G, S, d]; keys are already rotated."""

KeyValues = tuple[KeysValues, ...]
"""`KeysValues` per layer."""


class Attention(nn.Module):
    """Every position attends to every key: the prompt's, if given, and all own positions, later ones included."""

    def __init__(self, hidden_size: int, heads: int, kv_heads: int, *, qkv_bias: bool) -> None:
        super().__init__()
        self.heads, self.kv_heads, self.head_size = heads, kv_heads, hidden_size // heads
        self.q_proj = nn.Linear(hidden_size, heads * self.head_size, bias=qkv_bias)
        self.k_proj = nn.Linear(hidden_size, kv_heads * self.head_size, bias=qkv_bias)
        self.v_proj = nn.Linear(hidden_size, kv_heads * self.head_size, bias=qkv_bias)
        self.o_proj = nn.Linear(heads * self.head_size, hidden_size, bias=False)

    def forward(
        self, x: Tensor, turn: Rotation, past: KeysValues | None, mask: Tensor | None
    ) -> tuple[Tensor, KeysValues]:
        """Attend from `x` [B, S, D] over `past` and itself.

        `mask` is bool [B, 1, 1, P + S] or None; True keys may be attended. Returns [B, S, D] and the own keys and
        values.
        """
        query = rotate(self._split(self.q_proj(x), self.heads), turn)
        own = (
            rotate(self._split(self.k_proj(x), self.kv_heads), turn),
            self._split(self.v_proj(x), self.kv_heads),
        )
        keys, values = own if past is None else (torch.cat((past[i], own[i]), dim=2) for i in (0, 1))
        mixed = scaled_dot_product_attention(
            query, keys, values, attn_mask=mask, enable_gqa=self.heads != self.kv_heads
        )
        out: Tensor = self.o_proj(mixed.transpose(1, 2).flatten(2))  # [B, S, H * d] -> [B, S, D]
        return out, own

    def _split(self, x: Tensor, heads: int) -> Tensor:
        split: Tensor = x.unflatten(-1, (heads, self.head_size))
        return split.transpose(1, 2)  # [B, H, S, d]
