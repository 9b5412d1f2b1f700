"""Step 0 of the denoising, as far as the probe needs it: the first layers over a canvas that is all masks.

Legend: B rows, P longest prompt, N longest canvas, D hidden width. Rows of unequal lengths share one padded batch;
padding is masked as a key and every real position keeps the number it has alone, so no row changes another.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from seer_core.config import LoopFacts
from seer_core.layers.attention import Attend, Behind, Remembering
from seer_core.models.decoder import Decoder, Observer
from seer_core.prompt import EncodedPrompt


def run_step_zero(
    decoder: Decoder,
    mask_id: int,
    prompts: Sequence[EncodedPrompt],
    canvas_tokens: Sequence[int],
    *,
    depth: int,
    loop: LoopFacts,
    observe: Observer,
    peek: bool = False,
) -> None:
    """Run layers 0 .. depth - 1 and show `observe` their values of every canvas slot, [B, N, .] each.

    With `prefix_lm` the prompt attends to itself alone and the canvas to both; otherwise all attend to all. With
    `shifted` logits a slot's value is that of the position before it, which predicts it: of slot 0, the prompt's last.
    Rows of the values beyond `canvas_tokens[i]` are padding and mean nothing.

    With `peek` the last of these layers stops in front of its MLP, and all that is shown of it is the MLP's input, by
    the name `mlp_input`.
    """
    device = prompts[0].embeddings.device
    lengths = torch.tensor([prompt.length_tokens for prompt in prompts], device=device)
    canvas_lengths = torch.tensor(list(canvas_tokens), device=device)
    before = pad_sequence([prompt.embeddings for prompt in prompts], batch_first=True)  # [B, P, D]
    masks = decoder.embed(torch.full((len(prompts), max(canvas_tokens)), mask_id, device=device))  # [B, N, D]
    before_at, masks_at = _positions(decoder, prompts, before.shape[1], masks.shape[1])
    before_real = torch.arange(before.shape[1], device=device) < lengths[:, None]
    canvas_real = torch.arange(masks.shape[1], device=device) < canvas_lengths[:, None]
    real = torch.cat((before_real, canvas_real), dim=1)  # [B, P + N]
    slots = _Slots(observe, lengths - 1, shifted=loop.shifted)
    advance = partial(_advance, decoder, depth, peek)
    if loop.prefix_lm:
        prompt_keys = Remembering(before_real)
        advance(before, before_at, prompt_keys, slots.of_prompt)
        advance(masks, masks_at, Behind(prompt_keys.kept, real), slots.of_canvas)
    else:
        hidden, positions = torch.cat((before, masks), dim=1), torch.cat((before_at, masks_at), dim=-1)
        advance(hidden, positions, Remembering(real), slots.of_both(before.shape[1]))


def _advance(
    decoder: Decoder, depth: int, peek: bool, hidden: Tensor, positions: Tensor, attend: Attend, observe: Observer
) -> None:
    hidden = decoder.run(hidden, positions, layers=range(depth - peek), attend=attend, observe=observe)
    if peek:
        observe(depth - 1, "mlp_input", decoder.mlp_input(depth - 1, hidden, positions, attend=attend))


def _positions(decoder: Decoder, prompts: Sequence[EncodedPrompt], longest: int, canvas: int) -> tuple[Tensor, Tensor]:
    """Rotary positions of prompts [B, P] and canvases [B, N]; of three axes where the decoder has them."""
    device = prompts[0].embeddings.device
    before = torch.arange(longest, device=device).expand(len(prompts), -1)
    nexts = torch.tensor([prompt.next_position for prompt in prompts], device=device)
    behind = nexts[:, None] + torch.arange(canvas, device=device)
    if not decoder.config.rope_sections:
        return before, behind
    before = before.repeat(3, 1, 1)
    for row, prompt in enumerate(prompts):
        if prompt.positions is not None:
            before[:, row, : prompt.length_tokens] = prompt.positions
    return before, behind.expand(3, -1, -1)


class _Slots:
    """Observers that pass on the values of canvas slots, and nothing of a prompt beyond its position `last` [B]."""

    def __init__(self, observe: Observer, last: Tensor, *, shifted: bool) -> None:
        self._observe, self._last, self._shifted = observe, last, shifted
        self._before: dict[tuple[int, str], Tensor] = {}  # of the prompts' last positions, [B, 1, .]

    def of_prompt(self, layer: int, name: str, value: Tensor) -> None:
        if self._shifted:
            rows = torch.arange(len(value), device=value.device)
            self._before[layer, name] = value[rows, self._last][:, None]

    def of_canvas(self, layer: int, name: str, value: Tensor) -> None:
        if self._shifted:
            value = torch.cat((self._before.pop((layer, name)), value[:, :-1]), dim=1)
        self._observe(layer, name, value)

    def of_both(self, start: int) -> Observer:
        """For values [B, P + N, .] of prompt and canvas, which begins at `start`."""

        def observe(layer: int, name: str, value: Tensor) -> None:
            self.of_prompt(layer, name, value)
            self.of_canvas(layer, name, value[:, start:])

        return observe
