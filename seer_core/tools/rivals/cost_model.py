"""What a request costs by arithmetic alone, here and in a decoder of LLaDA-8B's shape.

The unit and assumptions are those of `tools/price.py`: one token a step, the prompt's keys kept. The prompt itself is
added once, as every method pays for it. A detector that taps layer k here is assumed to tap layer k there.
"""

from __future__ import annotations

from seer_core.config import DecoderConfig
from seer_core.probe.cost import Cost
from seer_core.tools.price import Price, head_layers
from seer_core.tools.scores import Rows, Truth

LLADA_8B = DecoderConfig(
    hidden_size=4096,
    layers=32,
    heads=32,
    kv_heads=32,
    mlp_size=12288,
    vocab_size=126464,
    rope_theta=500000.0,
    norm_eps=1e-5,
    max_positions=4096,
)

LARGE_PROMPT_TOKENS = 1000
"""A prompt with one picture, as LaViDa makes it: four tiles and a view of 14 x 14 tokens each, and a question."""


def model_positions(
    config: DecoderConfig, prompt_tokens: float, cost: Cost, boundaries: Rows, truth: Truth, margin_tokens: int
) -> float:
    """Positions through the whole decoder for one request, on average over boundaries [R]."""
    price = Price(
        layers=config.layers,
        head_layers=head_layers(config),
        prompt_tokens=prompt_tokens,
        canvas_tokens=float(truth.canvas.mean()),
    )
    return prompt_tokens + price.total(cost, boundaries, truth, margin_tokens)
