from __future__ import annotations

from itertools import count

import pytest

from seer_core.config import LoopFacts
from seer_core.tools.engine_bench.meter import Meter, metered
from seer_core.tools.engine_bench.modes import way_of
from seer_core.tools.engine_bench.rig import Rig
from seer_core.types import Decoding
from tests.unit.engine.stage import ROLES, SIZES, random_decoder


def test_every_product_and_attention_of_every_step_is_clocked_once() -> None:
    rig, meter = Rig(random_decoder(), ROLES, loop=LoopFacts(prefix_lm=True), places=100), Meter()
    rows = rig.start([6, 6], 4, lambda _: Decoding())
    ticks = count()
    with metered(rig, way_of("eager", rig), meter, clock=lambda: float(next(ticks))) as way:
        steps = rig.run(way, rows)
    # A clock that ticks when it is read makes what holds no other clock last 1; the head has a second one inside.
    assert meter.attention_s == steps * SIZES.layers
    assert meter.product_s == steps * (SIZES.layers * 7 + 2)
    assert meter.model_s < meter.total_s == next(ticks) - 1


def test_clocks_are_gone_afterwards() -> None:
    rig, meter = Rig(random_decoder(), ROLES, loop=LoopFacts(prefix_lm=True), places=100), Meter()
    with metered(rig, way_of("eager", rig), meter):
        pass
    rig.run(way_of("eager", rig), rig.start([6], 4, lambda _: Decoding()))
    assert (meter.product_s, meter.attention_s, meter.model_s) == (0, 0, 0)


def test_shares_are_of_the_whole() -> None:
    meter = Meter(product_s=6.0, attention_s=2.0, model_s=9.0, total_s=10.0)
    assert meter.overhead_share == pytest.approx(0.2)
    assert meter.engine_share == pytest.approx(0.1)
