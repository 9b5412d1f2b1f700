"""Counts what a decoder computes: positions through its layers and through its head, whoever calls it and why.

A position that went through three of eight layers is three eighths of one; padding counts, as it is computed.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from torch import nn

from seer_core.models.decoder import Decoder


class Meter:
    """`positions` through the whole decoder, fractions included, and `head_positions` through its head."""

    def __init__(self, layers: int) -> None:
        self._layers, self._through = layers, 0
        self.head_positions = 0

    @property
    def positions(self) -> float:
        return self._through / self._layers

    def count_layer(self, module: nn.Module, inputs: tuple[Any, ...]) -> None:  # noqa: ARG002 - the hook's interface
        """A forward hook of a block, whose input is [B, S, D]."""
        self._through += inputs[0].shape[0] * inputs[0].shape[1]

    def count_head(self, module: nn.Module, inputs: tuple[Any, ...]) -> None:  # noqa: ARG002 - the hook's interface
        """A forward hook of the head, whose input is [..., D]."""
        self.head_positions += inputs[0].numel() // inputs[0].shape[-1]


@contextmanager
def metered(decoder: Decoder) -> Iterator[Meter]:
    """A meter that counts until the end of the context. Steps replayed from captured graphs are not seen."""
    meter = Meter(decoder.config.layers)
    hooks = [block.register_forward_pre_hook(meter.count_layer) for block in decoder.blocks]
    hooks.append(decoder.head.register_forward_pre_hook(meter.count_head))
    try:
        yield meter
    finally:
        for hook in hooks:
            hook.remove()
