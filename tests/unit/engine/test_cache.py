"""Which positions a step computes again, and that the approximations are what their source says."""

from __future__ import annotations

import pytest
import torch

from seer_core.engine.cache import CACHES
from seer_core.engine.row import ActiveRow
from seer_core.layers.attention import KeysValues, attend_own
from seer_core.models.decoder import Decoder
from seer_core.types import Decoding
from tests.solo import Stage
from tests.unit.engine.stage import ROLES, decode, make_row, random_decoder

WHOLE, BLOCK = range(5, 30), range(13, 21)


@pytest.mark.parametrize(
    ("name", "computed"),
    [("exact", range(5, 30)), ("fastdllm_prefix", range(13, 30)), ("fastdllm_dual", range(13, 21))],
)
def test_a_later_step_of_a_block_computes_what_the_policy_says(name: str, computed: range) -> None:
    assert CACHES[name](WHOLE, BLOCK) == computed


@pytest.mark.parametrize("name", CACHES)
@pytest.mark.parametrize("prefix_lm", [True, False])
def test_the_first_step_of_every_block_computes_everything(name: str, prefix_lm: bool) -> None:
    stage = Stage(random_decoder(), ROLES, decode, prefix_lm=prefix_lm)
    decoding = Decoding(cache=name, block_length=4, early_exit=False)
    row = stage.start(make_row(prompt_tokens=3, canvas=12, max_tokens=12, decoding=decoding))
    first = 3 if prefix_lm else 0
    for step in range(12):
        fresh = step % 4 == 0
        assert row.canvas.fresh == fresh
        block = range(3 + row.canvas.block.start, 3 + row.canvas.block.stop)
        assert row.computed == (range(first, 15) if fresh else CACHES[name](range(first, 15), block))
        stage.step(stage.batch([row]))


class Kept:
    """An `Attend` by hand: all keys of one row in full, of which only some are computed again."""

    def __init__(self, kept: dict[int, KeysValues], span: range) -> None:
        self._kept, self._span = kept, span

    def __call__(self, layer: int, query: torch.Tensor, keys: torch.Tensor, values: torch.Tensor) -> torch.Tensor:
        if layer in self._kept:
            whole = [each.clone() for each in self._kept[layer]]
            for all_, own in zip(whole, (keys, values), strict=True):
                all_[:, :, self._span.start : self._span.stop] = own
            keys, values = whole
        self._kept[layer] = keys, values
        return attend_own(layer, query, keys, values)


def by_hand(decoder: Decoder, row: ActiveRow, kept: dict[int, KeysValues]) -> torch.Tensor:
    """Hidden of the positions this step computes, from one full sequence without padding, pool or pack."""
    ids, span = torch.tensor([row.canvas.tokens]), row.computed
    hidden = torch.cat((row.row.prompt.embeddings[None], decoder.embed(ids)), 1)[:, span.start : span.stop]
    return decoder.run(hidden, torch.arange(span.start, span.stop)[None], attend=Kept(kept, span))[0]


@pytest.mark.parametrize("name", ["fastdllm_prefix", "fastdllm_dual"])
@torch.inference_mode()
def test_the_logits_are_those_of_a_loop_that_keeps_the_keys_by_hand(name: str) -> None:
    decoder = random_decoder()
    stage = Stage(decoder, ROLES, decode, prefix_lm=False)
    decoding = Decoding(cache=name, block_length=4, early_exit=False)
    row = stage.start(make_row(prompt_tokens=3, canvas=10, max_tokens=10, decoding=decoding))
    other = stage.start(make_row("b", prompt_tokens=7, canvas=12, max_tokens=12, decoding=decoding))
    kept: dict[int, KeysValues] = {}
    for _ in range(10):
        batch = stage.batch([other, row])
        logits = batch.logits(decoder, stage.forward(batch.shape, batch.inputs(decoder)))
        own = logits[len(other.canvas.holes) :]
        expected = by_hand(decoder, row, kept)
        at = [3 + slot - row.computed.start for slot in row.canvas.holes]
        torch.testing.assert_close(own, decoder.logits(expected[at]), atol=1e-5, rtol=0)
        stage.step(stage.batch([other, row]))
