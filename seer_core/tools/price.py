"""What a detector costs and what it saves, in one unit: a position through the whole decoder.

The model of cost: arithmetic alone, one token a step, the prompt's keys and values kept. Denoising a canvas of L*
positions is L* steps of L* positions. A probe runs prompt and whole canvas through its layers, and a head counts as so
many layers as its arithmetic is.
"""

from __future__ import annotations

from dataclasses import dataclass

from seer_core.config import DecoderConfig
from seer_core.probe.cost import Cost
from seer_core.tools.scores import Rows, Truth, work


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """Mean lengths of the rows, and the decoder's depth; `head_layers` is what the head costs, in layers."""

    layers: int
    head_layers: float
    prompt_tokens: float
    canvas_tokens: float

    def probe(self, cost: Cost) -> float:
        """Of one row's probe."""
        through = cost.layers_of(self.layers) * (self.prompt_tokens + self.canvas_tokens)
        head = self.head_layers * self.canvas_tokens if cost.head else 0.0
        return (through + head) / self.layers

    def total(self, cost: Cost, boundaries: Rows, truth: Truth, margin_tokens: int) -> float:
        """Of one row's probe and its denoising, on average over boundaries [R]."""
        return self.probe(cost) + work(boundaries, truth, margin_tokens)


def head_layers(config: DecoderConfig) -> float:
    """How many layers' arithmetic the head has."""
    width, kept = config.hidden_size, config.hidden_size * config.kv_heads // config.heads
    layer = 2 * width * width + 2 * width * kept + 3 * width * config.mlp_size
    return config.vocab_size * width / layer
