"""Bidirectional attention. Which keys a position may attend to is handed in, so that one layer serves every layout.

Legend: B rows, S own positions, P positions of an earlier run, D hidden width, H query heads, G key heads, d width of
a head.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import torch
from torch import Tensor, nn
from torch.nn.functional import scaled_dot_product_attention

from seer_core.layers.rotary import Rotation, rotate

KeysValues = tuple[Tensor, Tensor]
"""Keys and values of one layer, each [B, G, S, d]; keys are already rotated."""

Attend = Callable[[int, Tensor, Tensor, Tensor], Tensor]
"""(layer, queries [B, H, S, d], own keys and own values [B, G, S, d]) -> what each query found, [B, H, S, d]."""


class Attention(nn.Module):
    """Projections around the attention that `forward` is given."""

    def __init__(self, hidden_size: int, heads: int, kv_heads: int, *, qkv_bias: bool) -> None:
        super().__init__()
        self.heads, self.kv_heads, self.head_size = heads, kv_heads, hidden_size // heads
        self.q_proj = nn.Linear(hidden_size, heads * self.head_size, bias=qkv_bias)
        self.k_proj = nn.Linear(hidden_size, kv_heads * self.head_size, bias=qkv_bias)
        self.v_proj = nn.Linear(hidden_size, kv_heads * self.head_size, bias=qkv_bias)
        self.o_proj = nn.Linear(heads * self.head_size, hidden_size, bias=False)

    def forward(self, x: Tensor, turn: Rotation, attend: Callable[[Tensor, Tensor, Tensor], Tensor]) -> Tensor:
        """[B, S, D] -> [B, S, D]."""
        mixed = attend(
            rotate(self._split(self.q_proj(x), self.heads), turn),
            rotate(self._split(self.k_proj(x), self.kv_heads), turn),
            self._split(self.v_proj(x), self.kv_heads),
        )
        out: Tensor = self.o_proj(mixed.transpose(1, 2).flatten(2))  # [B, H, S, d] -> [B, S, D]
        return out

    def _split(self, x: Tensor, heads: int) -> Tensor:
        split: Tensor = x.unflatten(-1, (heads, self.head_size))
        return split.transpose(1, 2)  # [B, H, S, d]


def attend_own(layer: int, query: Tensor, keys: Tensor, values: Tensor) -> Tensor:  # noqa: ARG001 - an `Attend`
    """Every position attends to all own ones, later ones included."""
    return _attend(query, keys, values, None)


class Remembering:
    """An `Attend` over the own positions that keeps their keys and values for a later run.

    `mask` is bool [B, S], True where a key may be attended; None where all may.
    """

    def __init__(self, mask: Tensor | None = None) -> None:
        self._mask = mask
        self.kept: dict[int, KeysValues] = {}

    def __call__(self, layer: int, query: Tensor, keys: Tensor, values: Tensor) -> Tensor:
        self.kept[layer] = keys, values
        return _attend(query, keys, values, self._mask)


class Behind:
    """An `Attend` over `kept` keys and values [B, G, P, d] of an earlier run, by layer, and the own ones behind them.

    `mask` is bool [B, P + S], True where a key may be attended; None where all may.
    """

    def __init__(self, kept: Mapping[int, KeysValues], mask: Tensor | None = None) -> None:
        self._kept, self._mask = kept, mask

    def __call__(self, layer: int, query: Tensor, keys: Tensor, values: Tensor) -> Tensor:
        before_keys, before_values = self._kept[layer]
        keys, values = torch.cat((before_keys, keys), 2), torch.cat((before_values, values), 2)
        return _attend(query, keys, values, self._mask)


def _attend(query: Tensor, keys: Tensor, values: Tensor, mask: Tensor | None) -> Tensor:
    allowed = None if mask is None else mask[:, None, None, :]
    grouped = query.shape[1] != keys.shape[1]
    return scaled_dot_product_attention(query, keys, values, attn_mask=allowed, enable_gqa=grouped)
