"""What a request costs by arithmetic alone, here and in a decoder of LLaDA-8B's shape.

The unit and assumptions are those of `tools/price.py`: one token a step, the prompt's keys kept. The prompt itself is
added once, as every method pays for it. The probe runs it once more, unless its keys are kept (`keys_kept`), as they
can be where one process probes and denoises.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from seer_core.config import DecoderConfig
from seer_core.probe.cost import Cost
from seer_core.tools.price import head_layers

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Looks:
    """What a probe looked at, on average over requests: canvas positions in all, and how often it ran the prompt."""

    canvas_tokens: float
    times: float = 1.0


def model_positions(
    config: DecoderConfig,
    prompt_tokens: float,
    cost: Cost,
    looks: Looks,
    denoised: float,
    *,
    keys_kept: bool = False,
) -> float:
    """Positions through the whole decoder for one request, of which the denoising is `denoised`."""
    prompts = 0.0 if keys_kept else looks.times * prompt_tokens
    through = cost.layers_of(config.layers) * (prompts + looks.canvas_tokens)
    head = head_layers(config) * looks.canvas_tokens if cost.head else 0.0
    return prompt_tokens + (through + head) / config.layers + denoised


def at_depth(cost: Cost, here: DecoderConfig, there: DecoderConfig) -> Cost:
    """The same cost where the tap lies at the same share of the other decoder's layers."""
    if cost.layers is None:
        return cost
    return replace(cost, layers=round(cost.layers * there.layers / here.layers))
