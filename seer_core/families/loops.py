"""The two loops that the families' own are made from: LLaDA's blocks and Dream's timesteps."""

from __future__ import annotations

from seer_core.config import WHOLE_CANVAS, LoopFacts

LLADA_LOOP = LoopFacts()
"""LLaDA's `generate`: blocks from left to right, an even split, the surest first."""

DREAM_LOOP = LoopFacts(
    shifted=True,
    block_length=WHOLE_CANVAS,
    schedule="timesteps",
    remasking="entropy",
)
"""Dream's `diffusion_generate`: no blocks, logits shifted right, float32 timesteps."""
