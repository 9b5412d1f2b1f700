"""The engine's settings."""

from __future__ import annotations

from typing import Any

import pytest

from seer_core.engine.config import EngineConfig
from seer_core.errors import ConfigError


def test_the_next_bucket_is_always_longer() -> None:
    config = EngineConfig(bucket_tokens=(8, 16, 32))
    assert [config.bucket_after(n) for n in (1, 7, 8, 31, 32, 33, 63, 64)] == [8, 8, 16, 32, 64, 64, 64, 96]


@pytest.mark.parametrize("buckets", [(), (0, 8), (8, 8), (16, 8)])
def test_buckets_that_do_not_ascend_are_refused(buckets: tuple[int, ...]) -> None:
    with pytest.raises(ConfigError, match="ascending"):
        EngineConfig(bucket_tokens=buckets)


def test_an_engine_without_rows_is_refused() -> None:
    with pytest.raises(ConfigError, match="max_rows"):
        EngineConfig(max_rows=0)


def test_sums_beyond_the_last_bucket_find_a_close_one() -> None:
    config = EngineConfig(bucket_tokens=(8, 12, 16))
    assert [config.bucket_of(n) for n in (1, 8, 9, 16, 17, 24, 25, 33)] == [8, 8, 12, 16, 24, 24, 32, 48]


@pytest.mark.parametrize(
    ("field", "settings"),
    [
        ("tau_pad", {"tau_pad": 1.0}),
        ("row_slots", {"row_slots": (2, 4)}),
        ("row_slots", {"row_slots": (1, 4, 4)}),
        ("plan_budget_bytes", {"plan_budget_bytes": 0}),
        ("core_rows", {"core_rows": (2, 100)}),
        ("launch_tokens", {"launch_tokens": -1}),
    ],
)
def test_settings_that_cannot_plan_are_refused_by_name(field: str, settings: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match=field) as refused:
        EngineConfig(**settings)
    assert refused.value.field == field
