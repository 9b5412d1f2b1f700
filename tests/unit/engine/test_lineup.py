"""Who runs with whom, from step to step."""

from __future__ import annotations

from seer_core.engine.config import EngineConfig
from seer_core.engine.footprint import Footprint
from seer_core.engine.lineup import Company, Lineup
from seer_core.engine.plan import Lengths, Plan
from seer_core.engine.planner import Planner
from seer_core.engine.row import ActiveRow
from tests.unit.engine.stage import ROLES, decode, make_row


class CountingPlanner(Planner):
    """Counts how often it is asked."""

    asked = 0

    def plan(self, rows: list[Lengths]) -> list[Plan]:  # type: ignore[override]
        self.asked += 1
        return super().plan(rows)


def start(name: str, canvas: int) -> ActiveRow:
    row = make_row(name, canvas=canvas, prompt_tokens=3)
    return ActiveRow(row, roles=ROLES, decode=decode, config=EngineConfig())


def lineup() -> tuple[Lineup, CountingPlanner]:
    planner = CountingPlanner(EngineConfig(), Footprint(position_bytes=1, key_bytes=1), prefix_lm=False)
    return Lineup(planner, mask_id=ROLES.mask_id), planner


def named(companies: list[Company]) -> list[str]:
    return ["".join(sorted(row.row.id for row in company)) for company in companies]


def test_every_row_is_told_its_path() -> None:
    rows = [start("a", 60), start("b", 61), start("c", 1), start("d", 1)]
    companies, _ = lineup()
    assert named(companies.companies(rows)) == ["ab", "cd"]
    assert [row.path for row in rows] == ["static", "static", "eager", "eager"]


def test_nothing_is_planned_again_while_no_length_changes() -> None:
    rows = [start("a", 60), start("b", 61)]
    companies, planner = lineup()
    for _ in range(3):
        companies.companies(rows)
    assert planner.asked == 1
    rows[0].regrow(40)
    companies.companies(rows)
    assert planner.asked == 2


def test_a_batch_stays_while_its_rows_stay_together() -> None:
    pair, other = [start("a", 60), start("b", 61)], start("c", 8)
    companies, _ = lineup()
    (company,) = companies.companies(pair)
    batch = companies.batch(company)
    first, _ = companies.companies([*pair, other])
    assert companies.batch(first) is batch


def test_what_is_forgotten_is_kept_nowhere() -> None:
    pair, other = [start("a", 60), start("b", 61)], [start("c", 8), start("d", 8)]
    companies, _ = lineup()
    kept = [companies.batch(company) for company in companies.companies([*pair, *other])]
    companies.forget([pair[0]])
    first, second = companies.companies([pair[1], *other])
    assert companies.batch(first).rows == (pair[1],)
    assert companies.batch(second) is kept[1]
