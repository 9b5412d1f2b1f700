"""Whatever runs, the plans of a step keep the planner's promises."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from seer_core.engine.config import EngineConfig
from seer_core.engine.footprint import Footprint
from seer_core.engine.plan import Lengths, Plan
from seer_core.engine.planner import Planner

FOOTPRINT = Footprint(position_bytes=3, key_bytes=2)
ROWS = st.lists(
    st.builds(
        Lengths,
        st.one_of(st.integers(1, 16), st.integers(1, 256), st.integers(1, 5000)),
        st.integers(0, 700),
        st.sampled_from([1, 1, 1, 2]),
    ),
    max_size=80,
)
CONFIGS = st.builds(
    EngineConfig,
    tau_pad=st.sampled_from([0.0, 0.2, 0.5]),
    straggler_rows=st.integers(0, 3),
    short_tokens=st.integers(0, 12),
    launch_tokens=st.sampled_from([0, 32, 5000]),
    eager_tokens=st.sampled_from([0, 256, 10**9]),
    row_slots=st.sampled_from([(1,), (1, 4, 16), EngineConfig().row_slots]),
    core_rows=st.just((1,)),
    plan_budget_bytes=st.sampled_from([40_000, 200_000, 2**40]),
)


def tokens_of(rows: list[Lengths], plan: Plan) -> list[int]:
    """Positions of each run of each row of the plan."""
    return [rows[i].computed_tokens for i in plan.rows for _ in range(rows[i].copies)]


def exact_bytes(rows: list[Lengths], plan: Plan) -> int:
    computed = sum(rows[i].computed_tokens * rows[i].copies for i in plan.rows)
    return FOOTPRINT.size_bytes(computed, computed + sum(rows[i].held_tokens * rows[i].copies for i in plan.rows))


@given(ROWS, CONFIGS)
def test_every_row_runs_exactly_once(rows: list[Lengths], config: EngineConfig) -> None:
    plans = Planner(config, FOOTPRINT).plan(rows)
    assert sorted(i for plan in plans for i in plan.rows) == list(range(len(rows)))


@given(ROWS, CONFIGS)
def test_the_waste_is_what_the_formula_says_and_decides(rows: list[Lengths], config: EngineConfig) -> None:
    for plan in Planner(config, FOOTPRINT).plan(rows):
        tokens = tokens_of(rows, plan)
        waste = 1 - sum(tokens) / (len(tokens) * config.bucket_of(max(tokens)))
        assert plan.waste_ratio == waste
        assert 0 <= waste < 1
        assert plan.path != "static" or waste <= config.tau_pad
        assert plan.path != "varlen" or waste > config.tau_pad
        few = len(tokens) <= config.straggler_rows or len(tokens) > config.row_slots[-1]
        excused = max(tokens) > 4096 or max(tokens) <= config.short_tokens or few
        if plan.path == "eager" and not excused:
            rule = "static" if waste <= config.tau_pad else "varlen"
            assert plan.reason.startswith("its shape ")
            assert f"; otherwise {rule}, as padding " in plan.reason
        assert plan.path == "eager" or not excused


@given(ROWS, CONFIGS)
def test_every_shape_is_predefined_and_holds_its_rows(rows: list[Lengths], config: EngineConfig) -> None:
    for plan in Planner(config, FOOTPRINT).plan(rows):
        assert (plan.key is None) == (plan.path == "eager")
        if plan.key is None:
            continue
        tokens = tokens_of(rows, plan)
        assert len(tokens) <= plan.key.rows
        assert plan.key.rows in config.row_slots
        assert max(tokens) <= plan.key.canvas_tokens == config.bucket_of(max(tokens))
        assert all(rows[i].computed_tokens + rows[i].held_tokens <= plan.key.key_tokens for i in plan.rows)
        padded = plan.key.rows * plan.key.canvas_tokens
        assert plan.key.tokens == (padded if plan.path == "static" else config.bucket_of(sum(tokens)))


@given(ROWS, CONFIGS)
def test_no_plan_is_larger_than_the_budget(rows: list[Lengths], config: EngineConfig) -> None:
    planner = Planner(config, FOOTPRINT)
    fitting = [row for row in rows if planner.fits(row)]
    for plan in planner.plan(fitting):
        assert exact_bytes(fitting, plan) <= config.plan_budget_bytes
        assert plan.size_bytes <= config.plan_budget_bytes
        if plan.key is not None:
            keys = sum(
                (rows.computed_tokens + rows.held_tokens) * rows.copies for rows in map(fitting.__getitem__, plan.rows)
            )
            assert plan.size_bytes == FOOTPRINT.size_bytes(plan.key.tokens, keys)


@given(ROWS)
def test_no_plan_computes_more_than_padding_all_to_the_longest(rows: list[Lengths]) -> None:
    config = EngineConfig(launch_tokens=0, row_slots=tuple(range(1, 200)), plan_budget_bytes=2**40)
    inside = [row for row in rows if row.computed_tokens <= 4096]
    plans = Planner(config, FOOTPRINT).plan(inside)
    computed = sum(plan.key.tokens if plan.key else sum(tokens_of(inside, plan)) for plan in plans)
    longest = max((config.bucket_of(row.computed_tokens) for row in inside), default=0)
    assert computed <= sum(row.copies for row in inside) * longest


@given(st.integers(129, 10**6))
def test_above_128_a_bucket_is_less_than_a_fifth_padding(tokens: int) -> None:
    bucket = EngineConfig().bucket_of(tokens)
    assert tokens <= bucket
    assert 1 - tokens / bucket < 0.2


@given(st.integers(1, 64))
def test_a_batch_size_holds_its_rows(rows: int) -> None:
    slots = EngineConfig().slots_of(rows)
    assert slots >= rows
    assert 1 - rows / slots < 0.2
