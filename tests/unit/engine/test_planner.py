"""Which rows run together, on which path, and what the plan says about it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from seer_core.config import DecoderConfig
from seer_core.engine.config import EngineConfig
from seer_core.engine.footprint import Footprint
from seer_core.engine.plan import Lengths, Plan, ShapeKey
from seer_core.engine.planner import Planner

ONE_EACH = Footprint(position_bytes=1, key_bytes=1)


def planned(canvases: list[int], *, prompt: int = 10, prefix_lm: bool = True, **settings: Any) -> list[Plan]:
    computed, held = (0, prompt) if prefix_lm else (prompt, 0)
    return Planner(replace(EngineConfig(), **settings), ONE_EACH).plan(
        [Lengths(computed + canvas, held) for canvas in canvases]
    )


def test_rows_that_nearly_fill_their_bucket_are_padded_to_it() -> None:
    (plan,) = planned([60, 62, 64, 58, 61])
    assert (plan.path, sorted(plan.rows)) == ("static", [0, 1, 2, 3, 4])
    assert plan.key == ShapeKey(rows=5, tokens=5 * 64, canvas_tokens=64, key_tokens=64 + 64)
    assert plan.waste_ratio == 1 - 305 / (5 * 64)
    assert plan.size_bytes == 5 * 64 + (305 + 5 * 10)
    assert plan.reason == "padding 5 rows to 64 wastes 4.7%, at most 20%"


def test_rows_that_would_waste_more_are_packed() -> None:
    (plan,) = planned([9, 9, 9, 16])
    assert plan.path == "varlen"
    assert plan.key == ShapeKey(rows=4, tokens=48, canvas_tokens=16, key_tokens=16 + 64)
    assert plan.reason == "padding 4 rows to 16 wastes 32.8%, over 20%"


def test_long_rows_run_apart_from_short_ones_where_that_computes_less() -> None:
    long, short = planned([640] * 4 + [4] * 4)
    assert (long.path, sorted(long.rows)) == ("static", [0, 1, 2, 3])
    assert (short.path, sorted(short.rows)) == ("eager", [4, 5, 6, 7])
    assert short.reason == "no row is longer than 4 tokens"


def test_rows_stay_together_where_another_forward_costs_more_than_the_padding() -> None:
    assert len(planned([640] * 4 + [4] * 4, launch_tokens=1000)) == 1


def test_a_guided_row_counts_twice() -> None:
    (plan,) = Planner(EngineConfig(), ONE_EACH).plan([Lengths(60, 10, 2), Lengths(62, 10)])
    assert plan.key == ShapeKey(rows=3, tokens=3 * 64, canvas_tokens=64, key_tokens=64 + 64)
    assert plan.waste_ratio == 1 - (60 + 60 + 62) / (3 * 64)


def test_an_outlier_and_a_straggler_run_eagerly_alone() -> None:
    outlier, straggler, rest = planned([20, 5000, 640, 20, 22])
    assert (outlier.path, outlier.rows, outlier.key) == ("eager", (1,), None)
    assert "5000 tokens are beyond the last bucket of 4096" in outlier.reason
    assert (straggler.path, straggler.rows) == ("eager", (2,))
    assert "straggler" in straggler.reason
    assert (rest.path, len(rest.rows)) == ("static", 3)


def test_a_row_alone_takes_a_graph_where_none_counts_as_a_straggler() -> None:
    (plan,) = planned([60], straggler_rows=0)
    assert (plan.path, plan.key) == ("static", ShapeKey(rows=1, tokens=64, canvas_tokens=64, key_tokens=64 + 64))


def test_a_prompt_without_a_cache_counts_as_computed() -> None:
    (plan,) = planned([9, 9, 9, 16], prompt=112, prefix_lm=False)
    assert plan.path == "static"
    assert plan.key == ShapeKey(rows=4, tokens=4 * 128, canvas_tokens=128, key_tokens=128)
    assert plan.waste_ratio == 1 - (4 * 112 + 43) / (4 * 128)


def test_a_shape_much_larger_than_its_rows_is_overruled_with_the_reason() -> None:
    (plan,) = planned([65, 128, 128, 128, 128], row_slots=(1, 16), eager_tokens=100)
    assert (plan.path, plan.key) == ("eager", None)
    assert plan.reason == (
        "its shape computes 2048 positions, 577 without one; otherwise static, "
        "as padding 5 rows to 128 wastes 9.8%, at most 20%"
    )


def test_rows_beyond_the_budget_run_in_turn() -> None:
    plans = planned([64] * 8, plan_budget_bytes=450)
    assert [len(plan.rows) for plan in plans] == [3, 3, 2]
    assert all(plan.size_bytes <= 450 for plan in plans)


def test_a_shape_beyond_the_budget_is_overruled_with_the_reason() -> None:
    (plan,) = planned([50] * 2, plan_budget_bytes=220)
    assert plan.path == "eager"
    assert plan.reason.startswith("its shape would take 248 bytes of 220; otherwise varlen, as ")


def test_a_row_too_large_for_the_budget_is_known_beforehand() -> None:
    planner = Planner(EngineConfig(plan_budget_bytes=210), ONE_EACH)
    assert planner.fits(Lengths(100, 10))
    assert not planner.fits(Lengths(100, 11))


def test_nothing_runs_where_there_is_nothing() -> None:
    assert planned([]) == []


def test_a_footprint_counts_the_keys_of_every_layer() -> None:
    sizes = DecoderConfig(
        hidden_size=16,
        layers=3,
        heads=4,
        kv_heads=2,
        mlp_size=24,
        vocab_size=48,
        rope_theta=1e4,
        norm_eps=1e-5,
        max_positions=64,
    )
    footprint = Footprint.of(sizes, item_bytes=2)
    assert footprint.key_bytes == 2 * 3 * 2 * 4 * 2
    assert footprint.size_bytes(2, 3) == 2 * footprint.position_bytes + 3 * footprint.key_bytes
