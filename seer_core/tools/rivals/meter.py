"""Counts what a decoder computes: positions through its layers and through its head, whoever calls it and why.

A position that went through some of the layers, or through a part of one, is the fraction of one that the weights it
met are of all layers' weights. The attention's own products are not counted; padding is, as it is computed.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from torch import nn

from seer_core.models.decoder import Decoder


class Meter:
    """`positions` through the whole decoder, fractions included, and `head_positions` through its head."""

    def __init__(self, weights: int) -> None:
        """`weights` are those of all layers together."""
        self._weights, self._met = weights, 0
        self.head_positions = 0

    @property
    def positions(self) -> float:
        return self._met / self._weights

    def count_layer(self, weights: int, module: nn.Module, inputs: tuple[Any, ...]) -> None:  # noqa: ARG002 - as below
        """A forward hook of a linear map of so many weights inside a layer."""
        self._met += _rows(inputs) * weights

    def count_head(self, module: nn.Module, inputs: tuple[Any, ...]) -> None:  # noqa: ARG002 - the hook's interface
        """A forward hook of the head."""
        self.head_positions += _rows(inputs)


@contextmanager
def metered(decoder: Decoder) -> Iterator[Meter]:
    """A meter that counts until the end of the context. Steps replayed from captured graphs are not seen."""
    maps = [module for module in decoder.blocks.modules() if isinstance(module, nn.Linear)]
    meter = Meter(sum(module.weight.numel() for module in maps))
    hooks = [module.register_forward_pre_hook(partial(meter.count_layer, module.weight.numel())) for module in maps]
    hooks.append(decoder.head.register_forward_pre_hook(meter.count_head))
    try:
        yield meter
    finally:
        for hook in hooks:
            hook.remove()


def _rows(inputs: tuple[Any, ...]) -> int:
    """How many positions an input [..., D] has."""
    return int(inputs[0].numel() // inputs[0].shape[-1])
