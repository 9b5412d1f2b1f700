"""Frozen settings that more than one part reads. Parts keep their own settings beside their code."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class DecoderConfig:
    """The decoder's sizes, as a checkpoint's config.json fixes them."""

    hidden_size: int
    layers: int
    heads: int
    kv_heads: int
    mlp_size: int
    vocab_size: int
    rope_theta: float
    norm_eps: float
    max_positions: int
    qkv_bias: bool = False

    @property
    def head_size(self) -> int:
        return self.hidden_size // self.heads
