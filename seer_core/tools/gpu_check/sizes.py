"""How large things are that the checks run: on a device as a real model has them. Knows no torch device."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from seer_core.config import DecoderConfig


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizes:
    """`decoder` in `dtype` is stepped at `batches` rows of `canvas_tokens` behind `prompt_tokens`.

    `vocabularies` are those of the confidence kernel's cases; `stream_mib` is how much each measured kernel reads.
    """

    decoder: DecoderConfig
    dtype: torch.dtype
    batches: tuple[int, ...]
    canvas_tokens: int
    prompt_tokens: int
    vocabularies: tuple[int, ...]
    stream_mib: int


LLADA_CUT = Sizes(
    decoder=DecoderConfig(
        hidden_size=4096,
        layers=4,  # of 32
        heads=32,
        kv_heads=32,
        mlp_size=12288,
        vocab_size=126464,
        rope_theta=500000.0,
        norm_eps=1e-5,
        max_positions=4096,
    ),
    dtype=torch.bfloat16,
    batches=(1, 2, 4, 8, 16, 32, 64),
    canvas_tokens=32,
    prompt_tokens=512,
    vocabularies=(63, 4097, 126464),
    stream_mib=1024,
)
"""LLaDA-8B's shape with four of its layers."""
