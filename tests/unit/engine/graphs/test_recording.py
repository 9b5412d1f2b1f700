"""A recording behaves as a graph of a device would, right answers and wrong ones alike."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.nn.functional import scaled_dot_product_attention

from seer_core.config import DecoderConfig
from seer_core.engine.graphs.recording import RecordingGraphs
from seer_core.errors import EngineError
from seer_core.layers.attention import Behind
from seer_core.models.decoder import Decoder

Body = Callable[[Tensor], Tensor]

WEIGHTS = torch.randn(8, 8, generator=torch.Generator().manual_seed(1))
linear = nn.Linear(8, 8).eval().requires_grad_(False)
norm = nn.RMSNorm(8).eval().requires_grad_(False)


def numbers(seed: int, *shape: int) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def strided_views(x: Tensor) -> Tensor:
    first, second = x.transpose(0, 1).chunk(2)
    return (first.t() @ second)[None].expand(3, -1, -1).flatten(1) + x.reshape(-1)[: x.shape[1] // 2].sum()


def written_through_a_view(x: Tensor) -> Tensor:
    out = torch.zeros(6, 8)
    out[1:3] = x[:2]
    out.view(-1, 4)[0].copy_(x[3, :4])
    out[:, 2].mul_(3).add_(x.sum(0)[2])
    return out


def in_place_on_an_intermediate(x: Tensor) -> Tensor:
    doubled = x * 2
    kept = doubled.clone()
    doubled.relu_()
    doubled[0] += kept[1]
    return doubled + kept


def attention(x: Tensor) -> Tensor:
    heads = x.view(1, 4, 2, 4).transpose(1, 2)
    mask = (heads[..., 0] > 0)[:, :, None] | torch.eye(4, dtype=torch.bool)
    plain = scaled_dot_product_attention(heads, heads, heads)
    return torch.cat((plain, scaled_dot_product_attention(heads, heads, heads, attn_mask=mask)), dim=2)


def several_results(x: Tensor) -> Tensor:
    values, indices = x.topk(3, dim=-1)
    highest, at = x.max(0)
    return values.sum(-1) * indices.sum(-1) + highest[:4] * at[:4]


BODIES: dict[str, Body] = {
    "views": strided_views,
    "writes through views": written_through_a_view,
    "in place": in_place_on_an_intermediate,
    "attention": attention,
    "several results": several_results,
    "linear": linear,
    "norm": lambda x: norm(x),
    "three axes through a linear": lambda x: linear(x[None].expand(2, -1, -1)),
    "cat and stack": lambda x: torch.stack((torch.cat((x, x.flip(0))), torch.cat((WEIGHTS, x[:0])))),
    "masked": lambda x: torch.where(x > 0, x, 0.5).masked_fill(x > 1, -torch.inf).softmax(-1),
    "one value under a mask": lambda x: x.clone().index_put_((x < 0,), torch.zeros(())),
    "gathered": lambda x: x[x.argsort(dim=0)[:, 0]].gather(1, x.argsort(dim=1)),
    "repeated to a known size": lambda x: x.repeat_interleave(torch.tensor(2).expand(4), dim=0, output_size=8),
    "written to an output": lambda x: torch.add(x, 1, out=torch.empty(4, 8)),
    "the input itself": lambda x: x.view(8, 4),
}


@pytest.mark.parametrize("inference", [False, True], ids=["plain", "inference mode"])
@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
def test_a_replay_on_new_values_is_the_body_on_them(body: Body, inference: bool) -> None:
    with torch.inference_mode(inference):
        static = numbers(0, 4, 8)
        graph, output = RecordingGraphs().capture(lambda: body(static))
        for seed in (1, 2):
            fresh = numbers(seed, 4, 8)
            with torch.inference_mode():
                static.copy_(fresh)
            graph.replay()
            assert torch.equal(output, body(fresh))


@pytest.mark.parametrize("inside", [False, True], ids=["plain, replayed in inference mode", "the other way round"])
def test_capture_and_replay_may_differ_in_mode(inside: bool) -> None:
    with torch.inference_mode(inside):
        static = numbers(0, 4, 8)
        graph, output = RecordingGraphs().capture(lambda: in_place_on_an_intermediate(linear(static)))
    with torch.inference_mode():
        static.copy_(numbers(1, 4, 8))
    with torch.inference_mode(not inside):
        graph.replay()
        assert torch.equal(output, in_place_on_an_intermediate(linear(numbers(1, 4, 8))))


def test_gradients_that_the_body_would_want_are_not_in_the_way() -> None:
    trained = nn.Linear(8, 8)
    static = numbers(0, 4, 8)
    graph, output = RecordingGraphs().capture(lambda: trained(static).relu())
    static.copy_(numbers(1, 4, 8))
    graph.replay()
    assert torch.equal(output, trained(static).relu())


def test_a_buffer_of_the_model_is_written_by_every_replay() -> None:
    keys = torch.zeros(16, 8)
    places, new = torch.tensor([0, 0]), numbers(0, 2, 8)

    def body() -> Tensor:
        keys.index_copy_(0, places, linear(new))
        return keys[1:].sum(0)

    graph, output = RecordingGraphs().capture(body)
    for seed, at in ((1, [4, 9]), (2, [5, 9])):
        places.copy_(torch.tensor(at))
        new.copy_(numbers(seed, 2, 8))
        graph.replay()
        assert torch.equal(keys[at], linear(new))
    assert torch.equal(keys[4], linear(numbers(1, 2, 8))[0]), "the second replay left what it did not write"
    assert torch.equal(output, keys[1:].sum(0))


def test_changed_weights_are_seen() -> None:
    weights = WEIGHTS.clone()
    static = numbers(0, 4, 8)
    graph, output = RecordingGraphs().capture(lambda: static @ weights)
    weights.mul_(2)
    graph.replay()
    assert torch.equal(output, static @ weights)


def test_a_new_tensor_is_not_seen() -> None:
    handed = {"x": numbers(0, 4, 8)}
    graph, output = RecordingGraphs().capture(lambda: handed["x"] * 2)
    stale = output.clone()
    handed["x"] = numbers(1, 4, 8)
    graph.replay()
    assert torch.equal(output, stale)


def test_a_python_number_is_frozen_at_capture() -> None:
    length = 2
    static = numbers(0, 4, 8)
    graph, output = RecordingGraphs().capture(lambda: static[:length].sum(0))
    length = 4
    static.copy_(numbers(1, 4, 8))
    graph.replay()
    assert torch.equal(output, static[:2].sum(0))


def test_the_output_is_overwritten_by_the_next_replay() -> None:
    static = torch.ones(3)
    graph, output = RecordingGraphs().capture(lambda: static + 1)
    static.fill_(5)
    graph.replay()
    assert output.tolist() == [6, 6, 6]


def test_what_a_recording_keeps_is_counted() -> None:
    static = torch.ones(256)
    graph, _ = RecordingGraphs().capture(lambda: (static + 1).view(2, 128).mul_(2) * 3)
    assert graph.size_bytes == 2 * 256 * 4, "two new tensors; the view and the write in place take nothing"


READS: dict[str, Callable[[Tensor], Any]] = {
    "item": lambda x: x[0, 0].item(),
    "int": lambda x: int(x[0, 0]),
    "a branch": lambda x: 1 if x[0, 0] > 0 else 2,
    "tolist": lambda x: x.tolist(),
    "numpy": lambda x: x.numpy(),
    "asarray": lambda x: np.asarray(x),
    "cpu": lambda x: x.cpu(),
    "equal": lambda x: torch.equal(x, x),
    "allclose": lambda x: torch.allclose(x, x),
    "nonzero": lambda x: x.nonzero(),
    "nonzero as a tuple": lambda x: x.nonzero(as_tuple=True),
    "where": lambda x: torch.where(x > 0),
    "masked_select": lambda x: x.masked_select(x > 0),
    "a boolean index": lambda x: x[x > 0],
    "a boolean index on one axis": lambda x: x[:, x[0] > 0],
    "values under a boolean index": lambda x: x.clone().index_put_((x[:, 0] < 9,), torch.zeros(4, 8)),
    "unique": lambda x: x.unique(),
    "repeats": lambda x: x.repeat_interleave((x[:, 0] > 0).long(), dim=0),
    "host values": lambda x: x + torch.tensor([1.0] * 8),
    "slices at tensors": lambda x: x[: (x[:, 0] > 0).sum()],
}


@pytest.mark.parametrize("inference", [False, True], ids=["plain", "inference mode"])
@pytest.mark.parametrize("read", READS.values(), ids=READS)
def test_what_the_host_must_know_is_refused(read: Callable[[Tensor], Any], inference: bool) -> None:
    with torch.inference_mode(inference):
        static = numbers(0, 4, 8)

        def body() -> Tensor:
            read(static)
            return static

        with pytest.raises(EngineError, match="captured body"):
            RecordingGraphs().capture(body)
        read(static)  # refused in a capture only


CONFIG = DecoderConfig(
    hidden_size=32,
    layers=2,
    heads=4,
    kv_heads=2,
    mlp_size=48,
    vocab_size=50,
    rope_theta=10_000.0,
    norm_eps=1e-5,
    max_positions=128,
)


@pytest.mark.parametrize("masked", [False, True], ids=["all keys", "some keys"])
@torch.inference_mode()
def test_the_decoder_recorded_is_the_decoder_bit_for_bit(masked: bool) -> None:
    torch.manual_seed(0)
    decoder = Decoder(CONFIG).eval()
    past = {i: (numbers(i, 3, 2, 5, 8), numbers(i + 9, 3, 2, 5, 8)) for i in range(CONFIG.layers)}

    def run(ids: Tensor, positions: Tensor, mask: Tensor) -> Tensor:
        behind = Behind(past, mask if masked else None)
        return decoder.logits(decoder.run(decoder.embed(ids), positions, attend=behind))

    def inputs(seed: int) -> tuple[Tensor, Tensor, Tensor]:
        chance = torch.Generator().manual_seed(seed)
        mask = torch.rand(3, 12, generator=chance) < 0.7
        mask[:, 0] = True
        return (
            torch.randint(0, CONFIG.vocab_size, (3, 7), generator=chance),
            torch.randint(0, CONFIG.max_positions, (3, 7), generator=chance),
            mask,
        )

    static = inputs(0)
    graph, output = RecordingGraphs().capture(lambda: run(*static))
    for seed in (1, 2, 3):
        for tensor, given in zip(static, inputs(seed), strict=True):
            tensor.copy_(given)
        graph.replay()
        assert torch.equal(output, run(*inputs(seed)))
