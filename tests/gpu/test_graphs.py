"""CUDA graphs against the same body run eagerly: a small decoder that writes its keys and values into a pool."""

from __future__ import annotations

from typing import NamedTuple

import pytest
import torch
from torch import Tensor, nn
from torch.nn.functional import scaled_dot_product_attention

from seer_core.engine.graphs.cuda import CudaGraphs
from seer_core.engine.graphs.pool import GraphPool
from seer_core.layers.mlp import GatedMLP
from seer_core.layers.norm import RMSNorm

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")

CUDA = torch.device("cuda")
WIDTH, HEADS, HEAD, LAYERS, VOCABULARY, PLACES = 64, 4, 16, 3, 128, 256


class Key(NamedTuple):
    rows: int
    tokens: int


class Inputs(NamedTuple):
    ids: Tensor  # int64 [T]
    places: Tensor  # int64 [T], where each position's keys and values go
    mask: Tensor  # bool [PLACES], which places are attended


KEYS = [Key(1, 8), Key(2, 24), Key(4, 64), Key(8, 128)]


class Body(nn.Module):
    """Every position attends to the places that the mask names; place 0 belongs to nobody."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(VOCABULARY, WIDTH)
        self.norms = nn.ModuleList(RMSNorm(WIDTH, 1e-5) for _ in range(LAYERS))
        self.projections = nn.ModuleList(nn.Linear(WIDTH, 3 * WIDTH) for _ in range(LAYERS))
        self.mlps = nn.ModuleList(GatedMLP(WIDTH, 2 * WIDTH) for _ in range(LAYERS))
        self.head = nn.Linear(WIDTH, VOCABULARY)
        self.keys = nn.Buffer(torch.zeros(LAYERS, PLACES, HEADS, HEAD))
        self.values = nn.Buffer(torch.zeros(LAYERS, PLACES, HEADS, HEAD))

    def forward(self, key: Key, given: Inputs) -> Tensor:
        hidden = self.embedding(given.ids)
        for layer in range(LAYERS):
            projected = self.projections[layer](self.norms[layer](hidden)).view(key.tokens, 3, HEADS, HEAD)
            query, keys, values = projected.unbind(1)
            self.keys[layer].index_copy_(0, given.places, keys)
            self.values[layer].index_copy_(0, given.places, values)
            mixed = scaled_dot_product_attention(
                query.transpose(0, 1)[None],
                self.keys[layer].transpose(0, 1)[None],
                self.values[layer].transpose(0, 1)[None],
                attn_mask=given.mask[None, None, None],
            )
            hidden = hidden + mixed[0].transpose(0, 1).flatten(1)
            hidden = hidden + self.mlps[layer](hidden, None)
        out: Tensor = self.head(hidden)
        return out


def allocate(key: Key) -> Inputs:
    mask = torch.zeros(PLACES, dtype=torch.bool, device=CUDA)
    mask[0] = True
    zeros = torch.zeros(key.tokens, dtype=torch.int64, device=CUDA)
    return Inputs(zeros, zeros.clone(), mask)


def inputs(key: Key, seed: int) -> Inputs:
    chance = torch.Generator().manual_seed(seed)
    ids = torch.randint(0, VOCABULARY, (key.tokens,), generator=chance)
    places = 1 + torch.randperm(PLACES - 1, generator=chance)[: key.tokens]
    mask = torch.zeros(PLACES, dtype=torch.bool)
    mask[places] = True
    return Inputs(ids.cuda(), places.cuda(), mask.cuda())


@pytest.fixture
def body() -> Body:
    torch.manual_seed(0)
    return Body().to(CUDA).eval().requires_grad_(False)


def pool(body: Body, budget_bytes: int = 2**30) -> GraphPool[Key, Inputs]:
    return GraphPool(CudaGraphs(CUDA), body, allocate, budget_bytes=budget_bytes)


def assert_answers(graphs: GraphPool[Key, Inputs], body: Body, keys: list[Key]) -> None:
    """In sequence, and only then compared: no output may be overwritten by what ran after it."""
    found = [graphs.run(key, inputs(key, seed)) for seed, key in enumerate(keys)]
    with torch.inference_mode():
        wanted = [body(key, inputs(key, seed)) for seed, key in enumerate(keys)]
    for one, other in zip(found, wanted, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-5, atol=1e-5)


def test_a_graphs_answer_is_the_eager_one(body: Body) -> None:
    graphs = pool(body)
    graphs.prepare(KEYS)
    assert graphs.captured == tuple(reversed(KEYS))
    assert_answers(graphs, body, [*KEYS, *reversed(KEYS), *KEYS])
    assert (graphs.hits, graphs.misses) == (3 * len(KEYS), 0)


def test_a_shape_captured_on_the_way_answers_too(body: Body) -> None:
    graphs = pool(body)
    graphs.prepare(KEYS[-1:])
    assert_answers(graphs, body, [*KEYS, *KEYS])
    assert (graphs.hits, graphs.misses) == (len(KEYS) + 1, len(KEYS) - 1)


def test_a_replay_writes_keys_and_values_into_the_pool(body: Body) -> None:
    graphs = pool(body)
    graphs.prepare(KEYS[:1])
    given = inputs(KEYS[0], 1)
    graphs.run(KEYS[0], given)
    found = body.keys[:, given.places].clone()
    with torch.inference_mode():
        body(KEYS[0], given)
    torch.testing.assert_close(found, body.keys[:, given.places], rtol=1e-5, atol=1e-5)
    assert found.abs().sum() > 0


def test_graphs_evicted_one_and_all_leave_a_pool_that_goes_on(body: Body) -> None:
    largest = pool(body)
    largest.prepare(KEYS[-1:])
    graphs = pool(body, budget_bytes=largest.size_bytes)
    graphs.prepare(KEYS[:1])
    assert_answers(graphs, body, [KEYS[3], KEYS[0], KEYS[3], KEYS[1], KEYS[3]])
    assert graphs.size_bytes <= largest.size_bytes


def test_a_body_that_reads_on_the_host_runs_eagerly_and_harms_no_other(body: Body) -> None:
    def reads(key: Key, given: Inputs) -> Tensor:
        out: Tensor = body(key, given)
        return out * (2 if key == KEYS[0] and out[0, 0].item() < torch.inf else 1)

    stream = torch.cuda.current_stream()
    graphs = GraphPool(CudaGraphs(CUDA), reads, allocate, budget_bytes=2**30)
    graphs.prepare(KEYS[:2])
    assert graphs.captured == (KEYS[1],)
    assert torch.cuda.current_stream() == stream
    given = inputs(KEYS[0], 1)
    with torch.inference_mode():
        torch.testing.assert_close(graphs.run(KEYS[0], given), 2 * body(KEYS[0], given))
    assert_answers(graphs, body, KEYS[1:])
    assert graphs.captured == tuple(KEYS[1:]), "captured after the failure as well"
