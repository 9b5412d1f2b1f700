"""The engine's settings."""

from __future__ import annotations

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


def test_an_engine_without_rows_or_blocks_is_refused() -> None:
    with pytest.raises(ConfigError, match="max_rows"):
        EngineConfig(max_rows=0)
    with pytest.raises(ConfigError, match="block_length"):
        EngineConfig(block_length=0)
