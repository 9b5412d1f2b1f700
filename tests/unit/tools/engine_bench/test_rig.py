from __future__ import annotations

import pytest
import torch

from seer_core.config import LoopFacts
from seer_core.errors import EngineError
from seer_core.tools.engine_bench.modes import way_of
from seer_core.tools.engine_bench.rig import Rig
from seer_core.types import Decoding
from tests.unit.engine.stage import ROLES, random_decoder


def test_rows_give_back_their_memory_and_steps_are_those_of_the_longest() -> None:
    rig = Rig(random_decoder(), ROLES, loop=LoopFacts(prefix_lm=True), places=40)
    for _ in range(2):
        rows = rig.start([4, 12], 10, lambda _: Decoding(steps_per_token=0.5))
        assert rig.run(way_of("routed", rig), rows) == 6
        assert rig.forward.pool.free_places == 40
        assert all(row.canvas.complete for row in rows)


def test_rows_without_memory_are_an_error() -> None:
    rig = Rig(random_decoder(), ROLES, loop=LoopFacts(prefix_lm=True), places=40)
    with pytest.raises(EngineError, match="no memory"):
        rig.start([12, 12], 10, lambda _: Decoding())


def test_a_row_that_fails_ends_the_run_and_frees_all() -> None:
    decoder = random_decoder()
    rig = Rig(decoder, ROLES, loop=LoopFacts(prefix_lm=True), places=100)
    rows = rig.start([4, 12], 10, lambda _: Decoding())
    decoder.head.weight.data.fill_(torch.nan)
    with pytest.raises(EngineError, match="not finite"):
        rig.run(way_of("eager", rig), rows)
    assert rig.forward.pool.free_places == 100
