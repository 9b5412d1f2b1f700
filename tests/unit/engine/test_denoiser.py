"""One step of a batch."""

from __future__ import annotations

import pytest
import torch

from seer_core.engine.batch import Batch
from seer_core.engine.config import EngineConfig
from seer_core.engine.denoiser import denoise
from seer_core.engine.row import ActiveRow
from seer_core.errors import EngineError
from seer_core.types import Decoding
from tests.unit.engine.stage import ROLES, ScriptedDecoder, decode, make_row, random_decoder, spell

MASK = ROLES.mask_id


def start(name: str, canvas: int, decoding: Decoding) -> ActiveRow:
    row = make_row(name, canvas=canvas, decoding=decoding)
    return ActiveRow(row, roles=ROLES, decode=decode, config=EngineConfig())


def test_each_step_commits_the_surest_slots_first() -> None:
    row = start("a", 4, Decoding(steps_per_token=0.5))
    batch = Batch([row], mask_id=MASK)
    decoder = ScriptedDecoder(spell("abcd"), order=[2, 0, 3, 1])
    denoise(decoder, batch)
    assert row.canvas.tokens == [0, MASK, 2, MASK]
    denoise(decoder, batch)
    assert row.canvas.tokens == spell("abcd")
    assert row.steps == 2


def test_rows_of_one_batch_keep_their_own_pace() -> None:
    rows = [start("a", 4, Decoding()), start("b", 6, Decoding(steps_per_token=0.5, block_length=3))]
    denoise(ScriptedDecoder(spell("abcdef")), Batch(rows, mask_id=MASK))
    assert rows[0].canvas.tokens == [0, MASK, MASK, MASK]
    assert rows[1].canvas.tokens == [0, 1, MASK, MASK, MASK, MASK]


def test_a_row_that_fails_leaves_the_others_alone() -> None:
    good, bad = start("good", 3, Decoding()), start("bad", 3, Decoding())
    bad.embeddings = torch.full_like(bad.embeddings, torch.nan)
    denoise(random_decoder(), Batch([bad, good], mask_id=MASK))
    assert isinstance(bad.error, EngineError)
    assert good.error is None
    assert good.steps == 1


def test_a_failed_forward_changes_no_row() -> None:
    row = start("a", 3, Decoding())
    row.embeddings = row.embeddings[:, :-1]
    with pytest.raises(RuntimeError):
        denoise(random_decoder(), Batch([row], mask_id=MASK))
    assert row.canvas.tokens == [MASK] * 3
    assert row.steps == 0
