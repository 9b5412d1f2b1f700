"""The decoder over packed positions, eagerly or by a captured graph. Knows no rows, only places.

Legend: T packed positions, R row slots, D hidden width, H query heads, G key heads, d width of a head.
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import torch
from torch import Tensor

from seer_core.engine.graphs.backend import GraphBackend
from seer_core.engine.graphs.pool import GraphPool
from seer_core.engine.key_pool import KeyPool
from seer_core.engine.plan import ShapeKey
from seer_core.kernels.varlen_attention import Segments, VarlenAttention, captured_attention_for, varlen_attention_for
from seer_core.models.decoder import Decoder


class StepInputs(NamedTuple):
    """What one forward takes. `places` says where in the pool each position's own keys go."""

    hidden: Tensor  # [T, D]
    positions: Tensor  # int64 [T], or [3, T] where positions have three axes
    places: Tensor  # int64 [T]
    query_starts: Tensor  # int64 [R + 1]
    key_starts: Tensor  # int64 [R]
    key_lengths: Tensor  # int64 [R]


class Pooled:
    """An `Attend` over the pool: own keys are put in their places, then every slot attends to its own stretch."""

    def __init__(self, pool: KeyPool, places: Tensor, segments: Segments, attention: VarlenAttention) -> None:
        self._pool, self._places, self._segments, self._attention = pool, places, segments, attention

    def __call__(self, layer: int, query: Tensor, keys: Tensor, values: Tensor) -> Tensor:
        """[1, H, T, d] and [1, G, T, d] -> [1, H, T, d]."""
        self._pool.write(layer, self._places, _packed(keys), _packed(values))
        found = self._attention(_packed(query), self._pool.keys[layer], self._pool.values[layer], self._segments)
        return found.transpose(0, 1)[None]


class Forward:
    """Runs shapes: predefined ones by their graphs where it has them, all others eagerly."""

    def __init__(
        self,
        decoder: Decoder,
        pool: KeyPool,
        attention: VarlenAttention,
        *,
        graphs: GraphPool[ShapeKey, StepInputs] | None = None,
    ) -> None:
        self.decoder, self.pool, self.graphs = decoder, pool, graphs
        self._attention = attention

    @torch.inference_mode()
    def __call__(self, shape: ShapeKey, inputs: StepInputs, *, captured: bool = False) -> Tensor:
        """Hidden [T, D] after the last layer. `captured`: the shape is a predefined one and may have a graph."""
        if captured and self.graphs is not None:
            return self.graphs.run(shape, inputs)
        return _run(self.decoder, self.pool, self._attention, shape, inputs)


def forward_over(decoder: Decoder, pool: KeyPool, graphs: GraphBackend | None, *, graph_bytes: int) -> Forward:
    """The forward of `decoder` over `pool`; with a back-end, predefined shapes are captured into `graph_bytes`."""
    device = decoder.embedding.weight.device
    attention = varlen_attention_for(device)
    if graphs is None:
        return Forward(decoder, pool, attention)
    body = partial(_run, decoder, pool, captured_attention_for(device))
    graph_pool = GraphPool(graphs, body, partial(empty_inputs, decoder), budget_bytes=graph_bytes)
    return Forward(decoder, pool, attention, graphs=graph_pool)


def _run(decoder: Decoder, pool: KeyPool, attention: VarlenAttention, shape: ShapeKey, inputs: StepInputs) -> Tensor:
    """One forward over all layers, driven by the tensors of `inputs` and the bounds of `shape` alone."""
    segments = Segments(
        inputs.query_starts, inputs.key_starts, inputs.key_lengths, shape.canvas_tokens, shape.key_tokens
    )
    attend = Pooled(pool, inputs.places, segments, attention)
    hidden = decoder.run(inputs.hidden[None], inputs.positions[..., None, :], attend=attend)
    return hidden[0]


def empty_inputs(decoder: Decoder, shape: ShapeKey) -> StepInputs:
    """Static inputs of a shape in which every slot is empty."""
    weight = decoder.embedding.weight

    def zeros(*sizes: int) -> Tensor:
        return torch.zeros(*sizes, dtype=torch.int64, device=weight.device)

    return StepInputs(
        hidden=weight.new_zeros(shape.tokens, weight.shape[1]),
        positions=zeros(shape.tokens),
        places=zeros(shape.tokens),
        query_starts=zeros(shape.rows + 1),
        key_starts=zeros(shape.rows),
        key_lengths=zeros(shape.rows) + 1,
    )


def _packed(values: Tensor) -> Tensor:
    """[1, heads, T, d] -> [T, heads, d]."""
    return values[0].transpose(0, 1)
