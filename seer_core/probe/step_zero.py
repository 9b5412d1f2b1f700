"""Step 0 of the denoising, as far as the probe needs it: the first layers over a canvas that is all masks.

Legend: B rows, P longest prompt, N longest canvas, D hidden width. Rows of unequal lengths share one padded batch;
padding is masked as a key and every real position keeps the number it has alone, so no row changes another.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from seer_core.layers.attention import Behind, Remembering
from seer_core.models.decoder import Decoder, Observer


def run_step_zero(
    decoder: Decoder,
    mask_id: int,
    prompts: Sequence[Tensor],
    canvas_tokens: Sequence[int],
    *,
    depth: int,
    prefix_lm: bool,
    observe: Observer,
) -> None:
    """Run layers 0 .. depth - 1 and show `observe` their values at the canvas positions, [B, N, .] each.

    `prompts` are embeddings [P_i, D]. With `prefix_lm` the prompt attends to itself alone and the canvas to both;
    otherwise all attend to all. Rows of the values beyond `canvas_tokens[i]` are padding and mean nothing.
    """
    device = prompts[0].device
    prompt_lengths = torch.tensor([len(prompt) for prompt in prompts], device=device)
    canvas_lengths = torch.tensor(list(canvas_tokens), device=device)
    before = pad_sequence(list(prompts), batch_first=True)  # [B, P, D]
    masks = decoder.embed(torch.full((len(prompts), max(canvas_tokens)), mask_id, device=device))  # [B, N, D]
    before_at = torch.arange(before.shape[1], device=device).expand(len(prompts), -1)
    offsets = torch.arange(masks.shape[1], device=device)
    masks_at = prompt_lengths[:, None] + offsets
    before_real = before_at < prompt_lengths[:, None]
    real = torch.cat((before_real, offsets < canvas_lengths[:, None]), dim=1)  # [B, P + N]
    layers = range(depth)
    if prefix_lm:
        prompt_keys = Remembering(before_real)
        decoder.run(before, before_at, layers=layers, attend=prompt_keys)
        decoder.run(masks, masks_at, layers=layers, attend=Behind(prompt_keys.kept, real), observe=observe)
    else:
        hidden, positions = torch.cat((before, masks), dim=1), torch.cat((before_at, masks_at), dim=1)
        attend, told = Remembering(real), _behind(before.shape[1], observe)
        decoder.run(hidden, positions, layers=layers, attend=attend, observe=told)


def _behind(start: int, observe: Observer) -> Observer:
    return lambda layer, name, value: observe(layer, name, value[:, start:])
