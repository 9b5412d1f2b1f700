"""An engine on graphs: captured before it is ready, replayed after, and saying what the eager engine says."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from seer_core.engine.config import EngineConfig
from seer_core.engine.engine import Engine
from seer_core.engine.graphs.recording import RecordingGraphs
from seer_core.types import Decoding
from tests.unit.engine.stage import ROLES, decode, loop_of, make_row, outcome_of, random_decoder, run_alone, run_dry

CONFIG = EngineConfig(core_rows=(2, 4), core_tokens=(8, 16), core_prompt_tokens=16, kept_tokens=(16, 64))


def engine(*, prefix_lm: bool = True, config: EngineConfig = CONFIG) -> Engine:
    return Engine(random_decoder(), ROLES, decode, config, loop=loop_of(prefix_lm=prefix_lm), graphs=RecordingGraphs())


def eager(*, prefix_lm: bool = True) -> Engine:
    return Engine(random_decoder(), ROLES, decode, CONFIG, loop=loop_of(prefix_lm=prefix_lm))


def test_it_is_ready_once_its_core_shapes_are_captured() -> None:
    captured = engine()
    assert not captured.ready
    captured.prepare()
    assert captured.ready
    assert captured.graphs is not None
    assert set(captured.graphs.captured) == set(CONFIG.core_shapes(prompt_cached=True))


def test_a_prompt_that_is_computed_every_step_is_part_of_the_core_shapes() -> None:
    captured = engine(prefix_lm=False)
    captured.prepare()
    assert captured.graphs is not None
    assert {shape.canvas_tokens for shape in captured.graphs.captured} == {24, 32}


def test_an_engine_without_graphs_is_ready_as_it_is() -> None:
    assert eager().ready
    eager().prepare()
    assert eager().graphs is None


@pytest.mark.parametrize("canvases", [(7, 8), (7, 8, 6), (3, 14, 9, 2)], ids=["static", "an empty slot", "packed"])
@pytest.mark.parametrize("prefix_lm", [True, False])
def test_it_says_what_the_eager_engine_says(prefix_lm: bool, canvases: Sequence[int]) -> None:
    captured = engine(prefix_lm=prefix_lm)
    captured.prepare()
    rows = [make_row(str(n), prompt_tokens=3 + n, canvas=n_slots) for n, n_slots in enumerate(canvases)]
    deltas = run_dry(captured, rows)
    for row in rows:
        assert outcome_of(deltas[row.id]).tokens == run_alone(eager(prefix_lm=prefix_lm), row).tokens
    assert captured.graphs is not None
    assert captured.graphs.hits > 0


def test_a_core_shape_is_a_hit_from_the_first_step_on() -> None:
    captured = engine()
    captured.prepare()
    rows = [
        make_row(name, prompt_tokens=5, canvas=8, max_tokens=8, decoding=Decoding(early_exit=False)) for name in "ab"
    ]
    run_dry(captured, rows)
    assert captured.graphs is not None
    assert (captured.graphs.hits, captured.graphs.misses) == (8, 0)


def test_without_memory_for_graphs_everything_runs_eagerly() -> None:
    captured = engine(config=EngineConfig(graph_memory_bytes=0))
    captured.prepare()
    row = make_row("a", canvas=7)
    deltas = run_dry(captured, [row, make_row("b", canvas=8)])
    assert outcome_of(deltas["a"]).tokens == run_alone(eager(), row).tokens
    assert captured.graphs is not None
    assert captured.graphs.captured == ()
