"""The bounded memory for keys and values: one pool for all rows that run, in which each has a stretch of its own.

A place holds the keys and values of one position in every layer. Place 0, the sink, belongs to nobody: padding writes
to it and empty slots attend to it, so it always holds numbers. Nothing is moved when rows come and go.

Legend: N places, G key heads, d width of a head.
"""

from __future__ import annotations

from bisect import insort
from typing import NamedTuple

import torch
from torch import Tensor

from seer_core.config import DecoderConfig


class Extent(NamedTuple):
    """A stretch of places."""

    start: int
    places: int


class KeyPool:
    """`keys` and `values` [N, G, d] per layer, on the device and in the dtype of `like`."""

    def __init__(self, config: DecoderConfig, places: int, like: Tensor) -> None:
        shape = (places + 1, config.kv_heads, config.head_size)
        self.keys = tuple(_with_sink(like.new_empty(shape)) for _ in range(config.layers))
        self.values = tuple(_with_sink(like.new_empty(shape)) for _ in range(config.layers))
        self.places = places
        self._free = [Extent(1, places)]

    @property
    def free_places(self) -> int:
        """Places that no row has, in one stretch or in many."""
        return sum(extent.places for extent in self._free)

    def take(self, places: int) -> Extent | None:
        """The smallest free stretch that holds `places`, cut to them; None where there is none now."""
        fitting = [extent for extent in self._free if extent.places >= places]
        if not fitting:
            return None
        found = min(fitting, key=lambda extent: (extent.places, extent.start))
        self._free.remove(found)
        if found.places > places:
            insort(self._free, Extent(found.start + places, found.places - places))
        return Extent(found.start, places)

    def give_back(self, extent: Extent) -> None:
        """Free a stretch that was taken, and join it with its free neighbours."""
        before = next((free for free in self._free if free.start + free.places == extent.start), None)
        after = next((free for free in self._free if free.start == extent.start + extent.places), None)
        joined = [each for each in (before, extent, after) if each is not None]
        self._free = [free for free in self._free if free not in joined]
        insort(self._free, Extent(joined[0].start, sum(each.places for each in joined)))

    @torch.inference_mode()
    def write(self, layer: int, places: Tensor, keys: Tensor, values: Tensor) -> None:
        """Put keys and values [T, G, d] at `places` int64 [T]."""
        self.keys[layer].index_copy_(0, places, keys)
        self.values[layer].index_copy_(0, places, values)


def _with_sink(places: Tensor) -> Tensor:
    """Only place 0 must hold numbers; a place that no row has written takes no memory on a CPU."""
    places[0] = 0
    return places
