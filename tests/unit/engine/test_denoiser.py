"""One step of a batch."""

from __future__ import annotations

import pytest
import torch

from seer_core.engine.row import ActiveRow
from seer_core.errors import EngineError
from seer_core.models.decoder import Decoder
from seer_core.types import Decoding
from tests.solo import Stage
from tests.unit.engine.stage import ROLES, ScriptedDecoder, decode, make_row, random_decoder, spell

MASK = ROLES.mask_id


def started(decoder: Decoder, **canvases: tuple[int, Decoding]) -> tuple[Stage, list[ActiveRow]]:
    stage = Stage(decoder, ROLES, decode)
    rows = [
        stage.start(make_row(name, canvas=canvas, decoding=decoding)) for name, (canvas, decoding) in canvases.items()
    ]
    return stage, rows


def test_each_step_commits_the_surest_slots_first() -> None:
    decoder = ScriptedDecoder(spell("abcd"), order=[2, 0, 3, 1])
    stage, (row,) = started(decoder, a=(4, Decoding(steps_per_token=0.5)))
    batch = stage.batch([row])
    stage.step(batch)
    assert row.canvas.tokens == [0, MASK, 2, MASK]
    stage.step(batch)
    assert row.canvas.tokens == spell("abcd")
    assert row.steps == 2


def test_rows_of_one_batch_keep_their_own_pace() -> None:
    half = Decoding(steps_per_token=0.5, block_length=3)
    stage, rows = started(ScriptedDecoder(spell("abcdef")), a=(4, Decoding()), b=(6, half))
    stage.step(stage.batch(rows))
    assert rows[0].canvas.tokens == [0, MASK, MASK, MASK]
    assert rows[1].canvas.tokens == [0, 1, MASK, MASK, MASK, MASK]


def test_a_row_that_fails_leaves_the_others_alone() -> None:
    stage, (bad, good) = started(random_decoder(), bad=(3, Decoding()), good=(3, Decoding()))
    place = bad.streams[0].extent.start
    stage.pool.keys[0][place] = torch.nan
    stage.step(stage.batch([bad, good]))
    assert isinstance(bad.error, EngineError)
    assert good.error is None
    assert good.steps == 1


def test_a_failed_forward_changes_no_row() -> None:
    class Broken(ScriptedDecoder):
        def logits(self, hidden: torch.Tensor) -> torch.Tensor:
            raise RuntimeError("device lost")

    stage, (row,) = started(Broken([]), a=(3, Decoding()))
    with pytest.raises(RuntimeError):
        stage.step(stage.batch([row]))
    assert row.canvas.tokens == [MASK] * 3
    assert row.steps == 0
