"""Cached prompts."""

from __future__ import annotations

import torch

from seer_core.layers.attention import Remembering
from tests.solo import Stage
from tests.unit.engine.stage import ROLES, decode, loop_of, make_row, random_decoder


@torch.inference_mode()
def test_the_cached_prompt_is_the_prompt_attending_to_itself() -> None:
    decoder = random_decoder()
    stage = Stage(decoder, ROLES, decode)
    row = stage.start(make_row(prompt_tokens=4))
    alone = Remembering()
    decoder.run(row.row.prompt.embeddings[None], torch.arange(4)[None], attend=alone)
    start = row.streams[0].extent.start
    for layer, (keys, values) in alone.kept.items():
        torch.testing.assert_close(stage.pool.keys[layer][start : start + 4], keys[0].transpose(0, 1))
        torch.testing.assert_close(stage.pool.values[layer][start : start + 4], values[0].transpose(0, 1))


def test_a_prompt_that_sees_the_canvas_is_not_cached() -> None:
    stage = Stage(random_decoder(), ROLES, decode, loop=loop_of(prefix_lm=False))
    for keys in stage.pool.keys:
        keys.fill_(torch.nan)
    stage.start(make_row(prompt_tokens=4))
    assert all(keys.isnan().all() for keys in stage.pool.keys)
