"""Who runs with whom, from step to step."""

from __future__ import annotations

import torch

from seer_core.engine.batch import Batch
from seer_core.engine.config import EngineConfig
from seer_core.engine.footprint import Footprint
from seer_core.engine.lineup import Lineup
from seer_core.engine.plan import Lengths, Plan
from seer_core.engine.planner import Planner
from seer_core.engine.row import ActiveRow
from tests.solo import Stage
from tests.unit.engine.stage import ROLES, decode, make_row, random_decoder


class CountingPlanner(Planner):
    """Counts how often it is asked."""

    asked = 0

    def plan(self, rows: list[Lengths]) -> list[Plan]:  # type: ignore[override]
        self.asked += 1
        return super().plan(rows)


def stage() -> Stage:
    return Stage(random_decoder(), ROLES, decode, prefix_lm=False)


def lineup(*, predefined: bool = False) -> tuple[Lineup, CountingPlanner]:
    planner = CountingPlanner(EngineConfig(launch_tokens=0), Footprint(position_bytes=1, key_bytes=1))
    return Lineup(planner, roles=ROLES, device=torch.device("cpu"), predefined=predefined), planner


def start(stage: Stage, name: str, canvas: int) -> ActiveRow:
    return stage.start(make_row(name, canvas=canvas, prompt_tokens=3, max_tokens=200))


def named(batches: list[Batch]) -> list[str]:
    return ["".join(sorted(row.row.id for row in batch.rows)) for batch in batches]


def test_every_row_is_told_its_path() -> None:
    at = stage()
    rows = [start(at, "a", 120), start(at, "b", 124), start(at, "c", 1), start(at, "d", 1)]
    batches, _ = lineup()
    assert named(batches.batches(rows)) == ["ab", "cd"]
    assert [row.path for row in rows] == ["static", "static", "eager", "eager"]


def test_rows_take_their_predefined_shapes_only_where_those_have_graphs() -> None:
    at = stage()
    rows = [start(at, "a", 60), start(at, "b", 61)]
    (exact,), (captured,) = lineup()[0].batches(rows), lineup(predefined=True)[0].batches(rows)
    assert (exact.captured, exact.positions) == (False, (127, 127))
    assert (captured.captured, captured.positions) == (True, (127, 128))


def test_nothing_is_planned_again_while_nothing_changes() -> None:
    at = stage()
    rows = [start(at, "a", 60), start(at, "b", 61)]
    batches, planner = lineup()
    for _ in range(3):
        batches.batches(rows)
    assert planner.asked == 1
    rows[0].regrow(40)
    batches.batches(rows)
    assert planner.asked == 2


def test_a_batch_stays_while_its_rows_stay_together() -> None:
    at = stage()
    pair, other = [start(at, "a", 120), start(at, "b", 124)], start(at, "c", 8)
    batches, _ = lineup()
    (batch,) = batches.batches(pair)
    assert batches.batches([*pair, other])[0] is batch


def test_a_batch_whose_row_grew_is_built_again() -> None:
    at = stage()
    rows = [start(at, "a", 60), start(at, "b", 61)]
    batches, _ = lineup()
    (batch,) = batches.batches(rows)
    rows[0].regrow(3)
    (grown,) = batches.batches(rows)
    assert grown is not batch
    assert grown.positions == (130, 130)


def test_what_is_forgotten_is_kept_nowhere() -> None:
    at = stage()
    pair, other = [start(at, name, 125) for name in "ab"], [start(at, name, 1) for name in "cd"]
    batches, _ = lineup()
    kept = batches.batches([*pair, *other])
    batches.forget([pair[0]])
    first, second = batches.batches([pair[1], *other])
    assert first.rows == (pair[1],)
    assert second is kept[1]
