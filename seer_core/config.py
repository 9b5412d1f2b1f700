"""Frozen settings that more than one part reads. Parts keep their own settings beside their code."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

LoopSchedule = Literal["even", "timesteps", "confident"]
StopRule = Literal["none", "scan", "block_end", "filled"]
ConfidenceSpan = Literal["sequence", "masks"]

WHOLE_CANVAS = 2**20
"""A block length no canvas reaches: the canvas is one block."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DecoderConfig:
    """The decoder's sizes, as a checkpoint's config.json fixes them.

    `vocab_size` counts the rows in use; the checkpoint stores `spare_rows` more in its embedding and its head, which
    are dropped. `rope_sections` are the frequencies that turn by time, height and width where positions come in three
    rows. `rope_float32` says that queries and keys are turned in float32 whatever their dtype.
    """

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
    spare_rows: int = 0
    rope_sections: tuple[int, ...] = ()
    rope_float32: bool = True

    @property
    def head_size(self) -> int:
        return self.hidden_size // self.heads


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopFacts:
    """How a family's reference denoises, as settings of one loop.

    What the prompt is to the loop:

    - `prefix_lm`: the prompt attends to itself alone, runs once, and its keys and values are kept.
    - `cache_after_first_step`: the first step runs prompt and canvas together; later ones run the last prompt position
      and the canvas over the keys and values which the first step left for the positions before it. Those have seen
      masks.
    - `shifted`: the logits at position i - 1 predict the token at position i. Slot 0 is predicted by the last prompt
      position where the prompt is in the forward.
    - `first_token_from_prompt`: with `prefix_lm` and `shifted`, slot 0 is the likeliest token of the last prompt
      position, written before the first step.
    - `guidance`: the reference knows classifier-free guidance: a second row whose prompt is all masks, and
      `u + (scale + 1) * (c - u)`.

    What a step commits:

    - `block_length`: the default block, filled from left to right; `WHOLE_CANVAS` where the reference has no blocks.
    - `schedule`: `even` splits a block's masks over its steps; `timesteps` commits `int(masks * (1 - s / t))` of the
      masks still there, in float32, on a line from 1 to `timestep_eps`, so some steps commit nothing and the last one
      all; `confident` commits whatever is surer than `confidence_threshold`, or at least one by the timesteps where
      nothing is, with the share still masked for t.
    - `remasking`: the default rule that ranks proposals.
    - `banned_ids`: never proposed, and left out of the confidence.
    - `vocab_filter_first`: the confidence comes after temperature and top-p (else from the raw logits).
    - `confidence_float64`: the softmax behind the confidence is float64 (else it has the logits' dtype).
    - `confidence_span`: what top-k ranks, which decides ties: every position in the forward (`sequence`), those that
      hold no mask at minus infinity, or the masked positions alone (`masks`).
    - `pools_rows`: the reference ranks the masks of all its rows together, so its rows depend on each other.

    When a row ends before its steps are used up (`stop`): never (`none`); once no mask is left (`filled`); once no mask
    is left before the earliest stop text, behind which nothing more is committed (`scan`); or after a block whose last
    token is the turn end (`block_end`).
    """

    prefix_lm: bool = False
    cache_after_first_step: bool = False
    shifted: bool = False
    first_token_from_prompt: bool = False
    guidance: bool = False
    block_length: int = 128
    schedule: LoopSchedule = "even"
    timestep_eps: float = 1e-3
    confidence_threshold: float | None = None
    remasking: str = "low_confidence"
    banned_ids: frozenset[int] = frozenset()
    vocab_filter_first: bool = False
    confidence_float64: bool = True
    confidence_span: ConfidenceSpan = "sequence"
    pools_rows: bool = False
    stop: StopRule = "none"
