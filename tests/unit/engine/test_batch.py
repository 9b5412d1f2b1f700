"""Padding: positions, masks, and logits that do not depend on who else runs."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from seer_core.engine.batch import Batch, key_mask
from seer_core.engine.config import EngineConfig
from seer_core.engine.kv_cache import prefill
from seer_core.engine.row import ActiveRow, Row
from seer_core.layers.attention import Attention
from seer_core.layers.rotary import rotation
from seer_core.models.decoder import Decoder
from tests.unit.engine.stage import ROLES, decode, make_row, random_decoder

CPU = torch.device("cpu")
SHAPES = [(3, 9), (11, 4), (1, 17), (6, 1)]


def start(decoder: Decoder, row: Row, *, prefix_lm: bool) -> ActiveRow:
    active = ActiveRow(row, row.prompt.embeddings, roles=ROLES, decode=decode, config=EngineConfig(block_length=8))
    if prefix_lm:
        active.past = prefill(decoder, row.prompt.embeddings)
    return active


@torch.inference_mode()
def logits_of(decoder: Decoder, rows: list[ActiveRow]) -> tuple[Tensor, ...]:
    batch = Batch(rows, mask_id=ROLES.mask_id)
    hidden, positions, mask = batch.inputs(decoder)
    hidden, _ = decoder.run(hidden, positions, past=batch.past, key_mask=mask)
    return batch.by_row(decoder.logits(batch.holes(hidden)))


@pytest.mark.parametrize("prefix_lm", [True, False])
def test_a_rows_logits_are_its_own(prefix_lm: bool) -> None:
    decoder = random_decoder()
    rows = [make_row(str(n), prompt_tokens=prompt, canvas=canvas) for n, (prompt, canvas) in enumerate(SHAPES)]
    together = logits_of(decoder, [start(decoder, row, prefix_lm=prefix_lm) for row in rows])
    for row, logits in zip(rows, together, strict=True):
        (alone,) = logits_of(decoder, [start(decoder, row, prefix_lm=prefix_lm)])
        torch.testing.assert_close(logits, alone, atol=1e-5, rtol=0)


def test_only_the_open_holes_of_the_current_block_are_scored() -> None:
    decoder = random_decoder()
    row = start(decoder, make_row(canvas=17), prefix_lm=True)
    row.canvas.commit([3], [1])
    (logits,) = logits_of(decoder, [row])
    assert len(logits) == 7


def test_the_prompt_is_recomputed_with_the_canvas_where_it_may_see_it() -> None:
    decoder = random_decoder()
    row = start(decoder, make_row(prompt_tokens=5, canvas=6), prefix_lm=False)
    hidden, positions, mask = Batch([row], mask_id=ROLES.mask_id).inputs(decoder)
    assert hidden.shape[1] == 11
    assert positions.tolist() == [list(range(11))]
    assert mask is None


def test_a_recomputed_prompt_is_padded_together_with_its_canvas() -> None:
    decoder = random_decoder()
    rows = [
        start(decoder, make_row(str(prompt), prompt_tokens=prompt, canvas=canvas), prefix_lm=False)
        for prompt, canvas in ((9, 2), (1, 8))
    ]
    hidden, positions, mask = Batch(rows, mask_id=ROLES.mask_id).inputs(decoder)
    assert hidden.shape[1] == 11
    assert positions.tolist() == [list(range(11))] * 2
    assert mask is not None
    assert mask.sum(1).tolist() == [11, 9]


def test_canvas_positions_follow_the_rows_own_prompt() -> None:
    decoder = random_decoder()
    rows = [start(decoder, make_row(str(n), prompt_tokens=n, canvas=2), prefix_lm=True) for n in (3, 8)]
    _, positions, _ = Batch(rows, mask_id=ROLES.mask_id).inputs(decoder)
    assert positions.tolist() == [[3, 4], [8, 9]]


def test_padding_is_masked_on_both_sides() -> None:
    mask = key_mask([1, 3], [2, 1], CPU)
    assert mask is not None
    assert mask.int().tolist() == [[1, 0, 0, 1, 1], [1, 1, 1, 1, 0]]


def test_equal_rows_need_no_mask() -> None:
    assert key_mask([3, 3], [2, 2], CPU) is None


def test_an_empty_slot_attends_to_something() -> None:
    mask = key_mask([2, 0], [3, 0], CPU)
    assert mask is not None
    attention = Attention(8, 2, 2, qkv_bias=False)
    past = (torch.randn(2, 2, 2, 4), torch.randn(2, 2, 2, 4))
    turn = rotation(torch.arange(3)[None], 4, 10000.0)
    out, _ = attention(torch.randn(2, 3, 8), turn, past, mask[:, None, None])
    assert out.isfinite().all()
