"""The pack: positions, places, masks, and logits that do not depend on who else runs."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from seer_core.engine.batch import Batch
from seer_core.engine.plan import ShapeKey
from seer_core.engine.row import ActiveRow
from seer_core.models.decoder import Decoder
from seer_core.types import Decoding
from tests.solo import Stage
from tests.unit.engine.stage import ROLES, SIZES, decode, make_row, random_decoder

SHAPES = [(3, 9), (11, 4), (1, 17), (6, 1)]


def staged(decoder: Decoder, *, prefix_lm: bool = True) -> Stage:
    return Stage(decoder, ROLES, decode, prefix_lm=prefix_lm)


@torch.inference_mode()
def logits_of(stage: Stage, rows: list[ActiveRow], *, padded: bool = False) -> tuple[Tensor, ...]:
    batch = stage.batch(rows, padded=padded)
    decoder = stage.forward.decoder
    logits = batch.logits(decoder, stage.forward(batch.shape, batch.inputs(decoder)))
    return torch.split(logits, [len(row.canvas.holes) for row in rows])


@pytest.mark.parametrize("padded", [True, False], ids=["padded", "packed"])
@pytest.mark.parametrize("guidance", [0.0, 1.5], ids=["plain", "guided"])
@pytest.mark.parametrize("prefix_lm", [True, False])
def test_a_rows_logits_are_its_own(prefix_lm: bool, guidance: float, padded: bool) -> None:
    stage = staged(random_decoder(), prefix_lm=prefix_lm)
    rows = [
        stage.start(
            make_row(
                str(n),
                prompt_tokens=prompt,
                canvas=canvas,
                decoding=Decoding(guidance_scale=guidance if n % 2 else 0.0),
            )
        )
        for n, (prompt, canvas) in enumerate(SHAPES)
    ]
    for row, logits in zip(rows, logits_of(stage, rows, padded=padded), strict=True):
        (alone,) = logits_of(stage, [row])
        # Guidance is a difference of two logits, times the scale.
        torch.testing.assert_close(logits, alone, atol=1e-5 * (1 + 2 * guidance), rtol=0)


def test_what_a_neighbour_holds_never_leaks() -> None:
    stage = staged(random_decoder())
    rows = [stage.start(make_row(str(n), prompt_tokens=4, canvas=6)) for n in range(3)]
    before = logits_of(stage, rows)
    lost = rows[1].streams[0].extent
    for layer in range(SIZES.layers):
        stage.pool.keys[layer][lost.start : lost.start + lost.places] = torch.nan
    after = logits_of(stage, rows, padded=True)
    torch.testing.assert_close(after[0], before[0], atol=1e-5, rtol=0)
    torch.testing.assert_close(after[2], before[2], atol=1e-5, rtol=0)
    assert after[1].isnan().all()


def test_only_the_open_holes_of_the_current_block_are_scored() -> None:
    stage = staged(random_decoder())
    row = stage.start(make_row(canvas=17, decoding=Decoding(block_length=8)))
    row.canvas.commit([3], [1])
    (logits,) = logits_of(stage, [row])
    assert len(logits) == 7


def test_the_prompt_is_recomputed_with_the_canvas_where_it_may_see_it() -> None:
    decoder = random_decoder()
    stage = staged(decoder, prefix_lm=False)
    row = stage.start(make_row(prompt_tokens=5, canvas=6))
    inputs = stage.batch([row]).inputs(decoder)
    assert inputs.positions.tolist() == list(range(11))
    assert torch.equal(inputs.hidden[:5], row.row.prompt.embeddings)


def test_canvas_positions_follow_the_rows_own_prompt_wherever_they_are_packed() -> None:
    decoder = random_decoder()
    stage = staged(decoder)
    rows = [stage.start(make_row(str(n), prompt_tokens=n, canvas=canvas)) for n, canvas in ((3, 2), (8, 3))]
    assert stage.batch(rows).inputs(decoder).positions.tolist() == [3, 4, 8, 9, 10]
    assert stage.batch(rows, padded=True).inputs(decoder).positions.tolist() == [3, 4, 0, 8, 9, 10]


def test_padding_and_empty_slots_write_to_the_sink_and_attend_to_it() -> None:
    stage = staged(random_decoder())
    rows = [stage.start(make_row(str(n), prompt_tokens=3, canvas=canvas)) for n, canvas in ((0, 2), (1, 3))]
    key = ShapeKey(rows=4, tokens=16, canvas_tokens=4, key_tokens=12)
    batch = Batch(rows, roles=ROLES, device=torch.device("cpu"), padded=True, key=key)
    inputs = batch.inputs(stage.forward.decoder)
    starts = [row.streams[0].extent.start for row in rows]
    own = [[start + 3 + j for j in range(canvas)] for start, canvas in zip(starts, (2, 3), strict=True)]
    assert inputs.places.tolist() == [*own[0], 0, 0, *own[1], 0, *[0] * 8]
    assert inputs.key_starts.tolist() == [*starts, 0, 0]
    assert inputs.key_lengths.tolist() == [5, 6, 1, 1]
    assert batch.positions == (5, 16)


def test_the_pack_follows_what_is_committed() -> None:
    decoder = random_decoder()
    stage = staged(decoder)
    rows = [stage.start(make_row(str(n), prompt_tokens=2, canvas=4)) for n in range(2)]
    batch = stage.batch(rows)
    for _ in range(3):
        stage.step(batch)
        fresh = stage.batch(rows)
        assert torch.equal(batch.inputs(decoder).hidden, fresh.inputs(decoder).hidden)
        assert [progress.settled for progress in batch.progress()] == [len(row.canvas.settled) for row in rows]
        assert [progress.done for progress in batch.progress()] == [row.canvas.ended for row in rows]


def test_a_batch_knows_when_its_rows_compute_something_else() -> None:
    stage = staged(random_decoder())
    row = stage.start(make_row(canvas=4, decoding=Decoding(cache="fastdllm_dual", block_length=2)))
    batch = stage.batch([row])
    assert batch.current
    stage.step(batch)
    assert not batch.current
