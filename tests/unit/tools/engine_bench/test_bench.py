from __future__ import annotations

from typing import Any

import pytest
import torch

from seer_core.config import LoopFacts
from seer_core.errors import ConfigError
from seer_core.tools.engine_bench.backends import backend_of
from seer_core.tools.engine_bench.bench import bench_engine
from seer_core.tools.engine_bench.settings import MODES, BenchSettings
from tests.unit.engine.stage import ROLES, random_decoder


def measured(**options: Any) -> dict[tuple[str, int, str], dict[str, Any]]:
    settings = BenchSettings(rounds=1, prompt_tokens=5, steps=4, **options)
    rows = bench_engine(random_decoder(), ROLES, settings, loop=LoopFacts(prefix_lm=True), progress=False)
    return {(str(row["mix"]), int(str(row["batch"])), str(row["mode"])): row for row in rows}


def test_every_mode_is_measured_on_every_mix_and_batch_size() -> None:
    rows = measured(mixes=["equal-16", "log-uniform-4-256"], batches=[1, 4])
    assert len(rows) == 2 * 2 * len(MODES)
    for row in rows.values():
        assert row["rows_per_s"] == pytest.approx(1000 * row["batch"] / (row["step_ms"] * row["steps"]), rel=0.01)
        assert 0 < row["engine_share"] < 1
        assert 0 < row["overhead_share"] < 1
        assert row["graph_hits"] is None


def test_only_what_is_padded_is_wasted() -> None:
    rows = {mode: row for (_, _, mode), row in measured(mixes=["log-uniform-4-256"], batches=[8]).items()}
    assert rows["eager"]["padding_waste"] == 0
    assert rows["naive_padding"]["padding_waste"] > rows["static"]["padding_waste"] > 0
    assert rows["routed"]["padding_waste"] == 0  # without graphs nothing is padded
    assert 0 < rows["routed"]["shape_waste"] < rows["naive_padding"]["padding_waste"]
    assert sum(rows["routed"]["path_shares"].values()) == pytest.approx(1, abs=0.01)
    assert rows["naive_padding"]["ratio_to_naive"] == 1


def test_equal_lengths_waste_nothing() -> None:
    rows = measured(mixes=["equal-16"], batches=[4])
    assert {row["padding_waste"] for row in rows.values()} == {0}


def test_graphs_are_hit_in_predefined_shapes_and_hide_where_time_goes() -> None:
    rows = {mode: row for (_, _, mode), row in measured(mixes=["equal-16"], batches=[4], graphs="recording").items()}
    assert {mode: row["graph_hits"] for mode, row in rows.items()} == {
        "naive_padding": 0,
        "static": 4,
        "varlen": 4,
        "eager": 0,
        "routed": 4,
    }
    assert {row["overhead_share"] for row in rows.values()} == {None}


def test_without_the_naive_mode_there_is_no_ratio_to_it() -> None:
    (row,) = measured(mixes=["equal-16"], batches=[2], modes=["eager"]).values()
    assert row["ratio_to_naive"] is None


def test_cuda_graphs_need_a_cuda_device() -> None:
    with pytest.raises(ConfigError, match="CUDA device, not cpu"):
        backend_of("cuda", torch.device("cpu"))
