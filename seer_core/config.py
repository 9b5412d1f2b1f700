"""Frozen settings that more than one part reads. Parts keep their own settings beside their code."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

StopRule = Literal["none", "scan", "block_end"]

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

    What a step commits, where the request does not say otherwise:

    - `block_length`: the block, filled from left to right; `WHOLE_CANVAS` where the reference has no blocks.
    - `schedule`, `commit`, `commit_threshold`, `remasking`: names in the engine's tables.
    - `banned_ids`: never proposed, and left out of the confidence.
    - `top_k`: only the k likeliest tokens are proposed and count for the confidence; 0 is all.

    When a canvas is complete (`stop`): once nothing is masked (`none`); once nothing is masked before the first end
    token, behind which nothing more is committed (`scan`); or after a block whose last token ends the answer
    (`block_end`).

    Left out, because nothing here depends on other rows or on the length of a vector: references that rank the masks of
    all their rows together, and the order in which `topk` takes equal confidences.
    """

    prefix_lm: bool = False
    cache_after_first_step: bool = False
    shifted: bool = False
    first_token_from_prompt: bool = False
    block_length: int = 128
    schedule: str = "even"
    commit: str = "schedule"
    commit_threshold: float = 0.9
    remasking: str = "low_confidence"
    banned_ids: frozenset[int] = frozenset()
    top_k: int = 0
    stop: StopRule = "none"
