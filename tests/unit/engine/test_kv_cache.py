"""Cached prompts, stacked and taken apart."""

from __future__ import annotations

import torch

from seer_core.engine.kv_cache import prefill, row_view, stack
from tests.unit.engine.stage import SIZES, random_decoder


def prompt(length: int) -> torch.Tensor:
    return torch.randn(length, SIZES.hidden_size, generator=torch.Generator().manual_seed(length))


def test_a_stack_gives_every_prompt_back_unchanged() -> None:
    decoder = random_decoder()
    pasts = [prefill(decoder, prompt(length)) for length in (3, 7, 1)]
    stacked = stack(pasts)
    assert stacked[0][0].shape == (3, SIZES.kv_heads, 7, 8)
    for n, (past, length) in enumerate(zip(pasts, (3, 7, 1), strict=True)):
        for layer, own in zip(row_view(stacked, n, length), past, strict=True):
            assert torch.equal(layer[0], own[0])
            assert torch.equal(layer[1], own[1])


def test_a_smaller_stack_does_not_hold_the_larger_one() -> None:
    stacked = stack([prefill(random_decoder(), prompt(length)) for length in (3, 7)])
    alone = stack([row_view(stacked, 0, 3)])
    assert alone[0][0].untyped_storage().nbytes() < stacked[0][0].untyped_storage().nbytes()


def test_the_cached_prompt_is_the_prompt_attending_to_itself() -> None:
    decoder = random_decoder()
    keys, values = prefill(decoder, prompt(4))[1]
    _, whole = decoder.run(prompt(4)[None], torch.arange(4)[None])
    assert torch.equal(keys, whole[1][0])
    assert torch.equal(values, whole[1][1])
