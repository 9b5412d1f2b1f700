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
    st.builds(Lengths, st.integers(1, 700), st.one_of(st.integers(1, 16), st.integers(1, 256), st.integers(1, 5000))),
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
    plan_budget_bytes=st.sampled_from([40_000, 200_000, 2**40]),
)


def computed(rows: list[Lengths], plan: Plan, prefix_lm: bool) -> list[int]:
    """Positions each row of the plan computes."""
    return [rows[i].canvas_tokens + (0 if prefix_lm else rows[i].prompt_tokens) for i in plan.rows]


def exact_bytes(rows: list[Lengths], plan: Plan, prefix_lm: bool) -> int:
    positions = len(plan.rows) * max(computed(rows, plan, prefix_lm))
    held = len(plan.rows) * max(rows[i].prompt_tokens for i in plan.rows) if prefix_lm else 0
    return FOOTPRINT.size_bytes(positions, positions + held)


@given(ROWS, CONFIGS, st.booleans())
def test_every_row_runs_exactly_once(rows: list[Lengths], config: EngineConfig, prefix_lm: bool) -> None:
    planner = Planner(config, FOOTPRINT, prefix_lm=prefix_lm)
    plans = planner.plan(rows)
    assert sorted(i for plan in plans for i in plan.rows) == list(range(len(rows)))
    for plan in plans:
        assert tuple(i for batch in planner.batches(plan, rows) for i in batch) == plan.rows


@given(ROWS, CONFIGS, st.booleans())
def test_the_waste_is_what_the_formula_says_and_decides(
    rows: list[Lengths], config: EngineConfig, prefix_lm: bool
) -> None:
    for plan in Planner(config, FOOTPRINT, prefix_lm=prefix_lm).plan(rows):
        tokens = computed(rows, plan, prefix_lm)
        waste = 1 - sum(tokens) / (len(tokens) * config.bucket_of(max(tokens)))
        assert plan.waste_ratio == waste
        assert 0 <= waste < 1
        assert plan.path != "static" or waste <= config.tau_pad
        assert plan.path != "varlen" or waste > config.tau_pad
        excused = max(tokens) > 4096 or max(tokens) <= config.short_tokens or len(tokens) <= config.straggler_rows
        if plan.path == "eager" and not excused:
            rule = "static" if waste <= config.tau_pad else "varlen"
            assert plan.reason.startswith("its shape ")
            assert f"; otherwise {rule}, as padding " in plan.reason
        assert plan.path == "eager" or not excused


@given(ROWS, CONFIGS, st.booleans())
def test_every_shape_is_predefined_and_holds_its_rows(
    rows: list[Lengths], config: EngineConfig, prefix_lm: bool
) -> None:
    for plan in Planner(config, FOOTPRINT, prefix_lm=prefix_lm).plan(rows):
        assert (plan.key is None) == (plan.path == "eager")
        if plan.key is None:
            continue
        gather = max if plan.path == "static" else sum
        tokens = gather(computed(rows, plan, prefix_lm))
        held = gather(rows[i].prompt_tokens for i in plan.rows) if prefix_lm else 0
        assert len(plan.rows) <= plan.key.rows
        assert plan.key.rows in config.row_slots
        assert tokens <= plan.key.canvas_tokens == config.bucket_of(tokens)
        assert held + tokens <= plan.key.key_tokens


@given(ROWS, CONFIGS, st.booleans())
def test_no_plan_is_larger_than_the_budget(rows: list[Lengths], config: EngineConfig, prefix_lm: bool) -> None:
    planner = Planner(config, FOOTPRINT, prefix_lm=prefix_lm)
    fitting = [row for row in rows if planner.fits(row)]
    for plan in planner.plan(fitting):
        assert exact_bytes(fitting, plan, prefix_lm) <= config.plan_budget_bytes
        assert plan.size_bytes <= config.plan_budget_bytes
        if plan.key is not None and plan.path == "static":
            slots, canvas, keys = plan.key
            assert plan.size_bytes == FOOTPRINT.size_bytes(slots * canvas, slots * keys)


@given(ROWS, st.booleans())
def test_splitting_never_computes_more_than_padding_all_to_the_longest(rows: list[Lengths], prefix_lm: bool) -> None:
    config = EngineConfig(launch_tokens=0, row_slots=tuple(range(1, 81)), plan_budget_bytes=2**40)
    inside = [row for row in rows if sum(row) <= 4096]
    plans = Planner(config, FOOTPRINT, prefix_lm=prefix_lm).plan(inside)
    padded = [(len(plan.rows), config.bucket_of(max(computed(inside, plan, prefix_lm)))) for plan in plans]
    assert sum(n * bucket for n, bucket in padded) <= len(inside) * max((bucket for _, bucket in padded), default=0)


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
