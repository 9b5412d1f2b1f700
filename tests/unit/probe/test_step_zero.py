"""What the probe is shown of step 0, against one row alone, unpadded, by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from torch import Tensor

from seer_core.config import LoopFacts
from seer_core.layers.attention import Behind, Remembering
from seer_core.models.decoder import Decoder
from seer_core.probe.step_zero import run_step_zero
from seer_core.prompt import EncodedPrompt
from tests.unit.probe.tiny import ROLES, random_prompt, tiny_decoder

PROMPTS = [random_prompt(length, seed) for seed, length in enumerate((5, 9, 1))]
CANVASES = [6, 3, 8]


def seen_together(decoder: Decoder, prompts: list[EncodedPrompt], loop: LoopFacts) -> Tensor:
    seen: list[Tensor] = []

    def observe(layer: int, name: str, value: Tensor) -> None:
        if (layer, name) == (1, "product"):
            seen.append(value)

    run_step_zero(decoder, ROLES.mask_id, prompts, CANVASES, depth=2, loop=loop, observe=observe)
    return seen[0]


def seen_alone(decoder: Decoder, prompt: EncodedPrompt, canvas: int, loop: LoopFacts) -> Tensor:
    """The rows that predict the canvas, [canvas, .]."""
    rows: list[Tensor] = []

    def observe(layer: int, name: str, value: Tensor) -> None:
        if (layer, name) == (1, "product"):
            rows.append(value[0])

    masks = decoder.embed(torch.full((1, canvas), ROLES.mask_id))
    at = torch.arange(prompt.length_tokens)
    positions = torch.cat((at, prompt.next_position + torch.arange(canvas)))[None]
    if prompt.positions is not None:
        positions = torch.cat((prompt.positions, (prompt.next_position + torch.arange(canvas)).expand(3, -1)), 1)[
            :, None
        ]
    split = prompt.length_tokens
    if loop.prefix_lm:
        kept = Remembering()
        decoder.run(prompt.embeddings[None], positions[..., :split], attend=kept, observe=observe)
        decoder.run(masks, positions[..., split:], attend=Behind(kept.kept), observe=observe)
    else:
        decoder.run(torch.cat((prompt.embeddings[None], masks), 1), positions, observe=observe)
    return torch.cat(rows)[split - loop.shifted :][:canvas]


@pytest.mark.parametrize("shifted", [False, True])
@pytest.mark.parametrize("prefix_lm", [False, True])
@torch.inference_mode()
def test_every_slot_is_seen_by_the_position_that_predicts_it(prefix_lm: bool, shifted: bool) -> None:
    decoder, loop = tiny_decoder(), LoopFacts(prefix_lm=prefix_lm, shifted=shifted)
    together = seen_together(decoder, PROMPTS, loop)
    for row, (prompt, canvas) in enumerate(zip(PROMPTS, CANVASES, strict=True)):
        torch.testing.assert_close(together[row, :canvas], seen_alone(decoder, prompt, canvas, loop), atol=1e-5, rtol=0)


@pytest.mark.parametrize("prefix_lm", [False, True])
@torch.inference_mode()
def test_positions_of_three_axes_are_the_prompts_own(prefix_lm: bool) -> None:
    decoder = tiny_decoder()
    decoder.config = replace(decoder.config, rope_sections=(1, 1, 2))
    loop = LoopFacts(prefix_lm=prefix_lm, shifted=True)
    seen = torch.tensor([[0, 1, 1, 1, 3], [0, 1, 1, 2, 3], [0, 1, 2, 1, 3]])
    prompts = [replace(PROMPTS[0], positions=seen), *PROMPTS[1:]]
    together = seen_together(decoder, prompts, loop)
    alone = seen_alone(decoder, prompts[0], CANVASES[0], loop)
    torch.testing.assert_close(together[0, : CANVASES[0]], alone, atol=1e-5, rtol=0)
