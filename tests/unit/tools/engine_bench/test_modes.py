from __future__ import annotations

import pytest

from seer_core.config import LoopFacts
from seer_core.engine.graphs.recording import RecordingGraphs
from seer_core.tools.engine_bench.modes import way_of
from seer_core.tools.engine_bench.rig import Rig
from seer_core.tools.engine_bench.settings import MODES
from seer_core.types import Decoding
from tests.unit.engine.stage import ROLES, random_decoder

LENGTHS = [5, 16, 16, 30]


def rig(*, graphs: bool = False) -> Rig:
    backend = RecordingGraphs() if graphs else None
    return Rig(random_decoder(), ROLES, loop=LoopFacts(prefix_lm=True), places=200, graphs=backend)


def shapes(mode: str, *, graphs: bool = False) -> list[tuple[int, int, int]]:
    """Rows, positions of rows and positions computed, of each batch of the first step."""
    stand = rig(graphs=graphs)
    rows = stand.start(LENGTHS, 3, lambda _: Decoding())
    return [(len(batch.rows), *batch.positions) for batch in way_of(mode, stand).lineup.batches(rows)]


def test_naive_padding_makes_every_row_as_long_as_the_longest() -> None:
    assert shapes("naive_padding") == [(4, 67, 4 * 30)]


def test_static_pads_each_group_to_its_bucket() -> None:
    assert shapes("static") == [(1, 30, 32), (2, 32, 2 * 16), (1, 5, 8)]


def test_varlen_packs_all_rows_into_a_bucket() -> None:
    assert shapes("varlen") == [(4, 67, 96)]


def test_eager_computes_nothing_but_rows() -> None:
    assert shapes("eager") == [(4, 67, 67)]


def test_routed_is_in_predefined_shapes_only_where_there_are_graphs() -> None:
    assert sum(computed for _, _, computed in shapes("routed")) == 67
    assert sum(computed for _, _, computed in shapes("routed", graphs=True)) > 67


@pytest.mark.parametrize("mode", MODES)
def test_all_modes_write_the_same_canvases(mode: str) -> None:
    stand = rig()
    rows, alike = (stand.start(LENGTHS, 3, lambda _: Decoding(steps_per_token=0.5)) for _ in range(2))
    steps = stand.run(way_of(mode, stand), rows)
    assert steps == 15
    stand.run(way_of("eager", stand), alike)
    assert [row.canvas.tokens for row in rows] == [row.canvas.tokens for row in alike]


def test_only_predefined_shapes_are_captured() -> None:
    for mode, captured in {"naive_padding": False, "static": True, "varlen": True, "eager": False}.items():
        stand = rig(graphs=True)
        assert stand.forward.graphs is not None
        stand.forward.graphs.prepare([stand.config.padded_shape(4, 32, 3)])
        stand.run(way_of(mode, stand), stand.start(LENGTHS, 3, lambda _: Decoding(steps_per_token=0.5)))
        assert (stand.forward.graphs.hits > 0) == captured, mode
