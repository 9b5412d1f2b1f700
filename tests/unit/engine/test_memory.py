"""What the engine does where memory is short: rows wait, steps are halved, one row is refused, nothing is lost."""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from typing import Any

import pytest
import torch
from torch import Tensor

from seer_core.engine import lineup
from seer_core.engine.batch import Batch
from seer_core.engine.config import EngineConfig
from seer_core.engine.engine import Engine
from seer_core.engine.footprint import Footprint
from seer_core.engine.row import ActiveRow
from seer_core.errors import ContextLengthExceeded, EngineError
from seer_core.layers.attention import Attend, attend_own
from seer_core.models.decoder import Decoder, Observer
from seer_core.types import Decoding
from tests.unit.engine.stage import (
    ROLES,
    SIZES,
    decode,
    loop_of,
    make_row,
    outcome_of,
    random_decoder,
    run_alone,
    run_dry,
)

KEY_BYTES = Footprint.of(SIZES, 4).key_bytes


def engine_with(places: int, decoder: Decoder | None = None) -> Engine:
    config = EngineConfig(key_memory_bytes=places * KEY_BYTES)
    return Engine(decoder or random_decoder(), ROLES, decode, config, loop=loop_of())


def test_rows_wait_for_keys_in_their_order_and_all_are_answered() -> None:
    engine = engine_with(50)
    rows = [make_row(name, prompt_tokens=8, canvas=8, max_tokens=12) for name in "abcd"]
    engine.admit(rows)
    deltas = engine.step()
    assert engine.key_places == (40, 50)
    assert engine.free_rows == EngineConfig().max_rows - 4
    while not engine.idle:
        deltas += engine.step()
    ended = {delta.id: delta.outcome for delta in deltas if delta.outcome is not None}
    assert set(list(ended)[:2]) == {"a", "b"}
    for row in rows:
        assert ended[row.id].tokens == run_alone(engine_with(50), row).tokens


def test_a_row_that_would_never_have_room_is_refused_at_once() -> None:
    deltas = run_dry(
        engine_with(50), [make_row("large", prompt_tokens=30, max_tokens=21), make_row("b", max_tokens=12)]
    )
    assert isinstance(deltas["large"][-1].error, ContextLengthExceeded)
    assert outcome_of(deltas["b"])


def test_a_guided_row_reserves_both_of_its_runs() -> None:
    engine = engine_with(50)
    engine.admit([make_row(prompt_tokens=8, max_tokens=12, decoding=Decoding(guidance_scale=1.0))])
    engine.step()
    assert engine.key_places == (40, 50)


def test_a_row_that_fails_before_it_runs_gives_its_keys_back() -> None:
    class Full(Decoder):
        def embed(self, ids: Tensor) -> Tensor:
            raise torch.OutOfMemoryError

    engine = engine_with(50, Full(SIZES))
    engine.admit([make_row(max_tokens=12, decoding=Decoding(guidance_scale=1.0))])
    (delta,) = engine.step()
    assert "not enough memory" in str(delta.error)
    assert engine.key_places == (0, 50)


def test_memory_that_suffices_for_no_batch_but_for_each_row_is_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    class Small(Batch):
        def __init__(self, rows: Sequence[ActiveRow], **options: Any) -> None:
            if len(rows) > 1:
                raise torch.OutOfMemoryError
            super().__init__(rows, **options)

    monkeypatch.setattr(lineup, "Batch", Small)
    rows = [make_row(name, canvas=8, max_tokens=8) for name in "abc"]
    deltas = run_dry(engine_with(200), [*rows, make_row("large", max_tokens=SIZES.max_positions)])
    assert isinstance(deltas["large"][-1].error, ContextLengthExceeded)
    for row in rows:
        assert outcome_of(deltas[row.id]) == run_alone(engine_with(200), row)


def test_what_a_failed_step_held_is_free_before_its_halves_run() -> None:
    held: list[weakref.ref[Tensor]] = []

    class Halving(Decoder):
        def logits(self, hidden: Tensor) -> Tensor:
            assert all(each() is None for each in held), "the failed step's tensors are still there"
            scratch = hidden.clone()
            if len(hidden) > 8:
                held.append(weakref.ref(scratch))
                raise torch.OutOfMemoryError
            return super().logits(hidden)

    engine = engine_with(200, Halving(SIZES))
    deltas = run_dry(engine, [make_row(name, canvas=8, max_tokens=8) for name in "ab"])
    assert held
    assert all(outcome_of(deltas[name]) for name in "ab")


def test_a_storm_of_cancellations_leaves_nothing_behind() -> None:
    engine = engine_with(400)
    for turn in range(30):
        engine.admit([make_row(f"{turn}/{n}", prompt_tokens=3 + n, max_tokens=20) for n in range(5)])
        engine.step()
        engine.cancel([f"{turn}/{n}" for n in range(5)])
    assert engine.idle
    assert engine.key_places == (0, 400)
    assert engine.free_rows == EngineConfig().max_rows


class Narrow(Decoder):
    """A device with room for so many positions."""

    room = 20

    def run(
        self,
        hidden: Tensor,
        positions: Tensor,
        *,
        layers: range | None = None,
        attend: Attend = attend_own,
        observe: Observer | None = None,
    ) -> Tensor:
        if hidden.shape[1] > self.room:
            raise torch.OutOfMemoryError("CUDA out of memory")
        return super().run(hidden, positions, layers=layers, attend=attend, observe=observe)


def narrow(seed: int = 0) -> Narrow:
    decoder = Narrow(SIZES)
    decoder.load_state_dict(random_decoder(seed).state_dict())
    return decoder.eval()


def test_a_step_too_large_for_the_device_runs_in_parts_and_says_the_same() -> None:
    rows = [make_row(str(n), prompt_tokens=3, canvas=9, max_tokens=9) for n in range(7)]
    deltas = run_dry(engine_with(400, narrow()), rows)
    for row in rows:
        assert outcome_of(deltas[row.id]).tokens == run_alone(engine_with(400), row).tokens


@pytest.mark.parametrize("prompt_tokens", [3, 25], ids=["its canvas", "its prompt"])
def test_the_one_row_too_large_for_the_device_is_told_so_and_no_other(prompt_tokens: int) -> None:
    large = make_row("large", prompt_tokens=prompt_tokens, canvas=24, max_tokens=24)
    rows = [make_row("a", prompt_tokens=3, max_tokens=9), large, make_row("b", prompt_tokens=3, max_tokens=9)]
    engine = engine_with(400, narrow())
    deltas = run_dry(engine, rows)
    error = deltas["large"][-1].error
    assert isinstance(error, EngineError)
    assert "not enough memory" in str(error)
    for name in "ab":
        assert outcome_of(deltas[name])
    assert engine.key_places == (0, 400)
