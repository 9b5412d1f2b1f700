"""Prompt keys and values, computed once where the prompt attends only to itself.

Legend: B rows, P longest prompt, D hidden width, G key heads, d head width.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from seer_core.layers.attention import KeyValues
from seer_core.models.decoder import Decoder


@torch.inference_mode()
def prefill(decoder: Decoder, embeddings: Tensor) -> KeyValues:
    """Keys and values [1, G, P, d] per layer of one prompt `embeddings` [P, D].

    One prompt at a time: it is exactly what the prompt alone gives, whoever joins with it.
    """
    positions = torch.arange(len(embeddings), device=embeddings.device)[None]
    return decoder.run(embeddings[None], positions)[1]


def stack(prompts: Sequence[KeyValues]) -> KeyValues:
    """One prompt per row, padded behind to the longest: [B, G, P, d] per layer.

    Always a copy, so that what is left of an earlier, larger stack can be freed.
    """
    return tuple((_padded(k for k, _ in layer), _padded(v for _, v in layer)) for layer in zip(*prompts, strict=True))


def row_view(stacked: KeyValues, row: int, length: int) -> KeyValues:
    """One row of a stack without its padding, sharing its memory."""
    return tuple((keys[row : row + 1, :, :length], values[row : row + 1, :, :length]) for keys, values in stacked)


def _padded(parts: Iterable[Tensor]) -> Tensor:
    by_position = [part[0].transpose(0, 1) for part in parts]  # [P, G, d]
    return pad_sequence(by_position, batch_first=True).transpose(1, 2)  # [B, G, P, d]
