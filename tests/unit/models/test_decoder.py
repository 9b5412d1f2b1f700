"""The decoder: slices of layers, prompt caches and masks all give the one result of a whole run."""

from __future__ import annotations

import pytest
import torch

from seer_core.config import DecoderConfig
from seer_core.layers.attention import Behind, Remembering
from seer_core.models.decoder import Decoder

CONFIG = DecoderConfig(
    hidden_size=32,
    layers=4,
    heads=4,
    kv_heads=2,
    mlp_size=48,
    vocab_size=64,
    rope_theta=10000.0,
    norm_eps=1e-5,
    max_positions=128,
    qkv_bias=True,
)


@pytest.fixture
def decoder() -> Decoder:
    torch.manual_seed(0)
    return Decoder(CONFIG).eval()


def at(start: int, stop: int) -> torch.Tensor:
    return torch.arange(start, stop)[None]


@torch.no_grad()
def test_layers_run_in_two_slices_equal_one_run(decoder: Decoder) -> None:
    hidden = decoder.embed(torch.randint(64, (2, 9)))
    positions = torch.arange(9).expand(2, -1)
    whole = decoder.run(hidden, positions)
    half = decoder.run(hidden, positions, layers=range(2))
    half = decoder.run(half, positions, layers=range(2, 4))
    torch.testing.assert_close(half, whole)


@torch.no_grad()
def test_masked_keys_cannot_change_a_row(decoder: Decoder) -> None:
    hidden = decoder.embed(torch.randint(64, (1, 9)))
    mask = torch.ones(1, 9, dtype=torch.bool)
    mask[:, 6:] = False
    short = decoder.run(hidden[:, :6], at(0, 6))
    poisoned = hidden.clone()
    poisoned[:, 6:] = 1e4
    padded = decoder.run(poisoned, at(0, 9), attend=Remembering(mask))
    torch.testing.assert_close(padded[:, :6], short)


@torch.no_grad()
def test_attention_is_bidirectional(decoder: Decoder) -> None:
    ids = torch.randint(64, (1, 5))
    other = ids.clone()
    other[0, 4] = (other[0, 4] + 1) % 64
    first = decoder.run(decoder.embed(ids), at(0, 5))
    second = decoder.run(decoder.embed(other), at(0, 5))
    assert not torch.allclose(first[:, 0], second[:, 0])


@torch.no_grad()
def test_a_prompt_that_sees_only_itself_may_be_cached(decoder: Decoder) -> None:
    """The cached prompt equals a full run in which prompt rows attend to the prompt alone."""
    prompt, canvas = decoder.embed(torch.randint(64, (1, 6))), decoder.embed(torch.randint(64, (1, 4)))
    prompt_keys = Remembering()
    decoder.run(prompt, at(0, 6), attend=prompt_keys)
    cached = decoder.run(canvas, at(6, 10), attend=Behind(prompt_keys.kept))
    stream, rows = prompt, canvas
    for layer in range(CONFIG.layers):
        joined = decoder.run(torch.cat((stream, rows), 1), at(0, 10), layers=range(layer, layer + 1))
        stream = decoder.run(stream, at(0, 6), layers=range(layer, layer + 1))
        rows = joined[:, 6:]
    torch.testing.assert_close(cached, rows)


@torch.no_grad()
def test_only_distances_between_positions_matter(decoder: Decoder) -> None:
    hidden = decoder.embed(torch.randint(64, (1, 7)))
    torch.testing.assert_close(decoder.run(hidden, at(0, 7)), decoder.run(hidden, at(50, 57)), atol=1e-4, rtol=0)


@torch.no_grad()
def test_taps_show_the_input_and_output_of_the_down_projection(decoder: Decoder) -> None:
    seen: dict[tuple[int, str], torch.Tensor] = {}
    hidden = decoder.embed(torch.randint(64, (1, 5)))
    out = decoder.run(hidden, at(0, 5), observe=lambda layer, name, value: seen.update({(layer, name): value}))
    down = decoder.get_submodule("blocks.2.mlp.down_proj")
    torch.testing.assert_close(down(seen[2, "product"]), seen[2, "mlp"])
    assert torch.equal(seen[3, "hidden"], out)
    assert {name for _, name in seen} == {"gate", "product", "mlp", "hidden"}
