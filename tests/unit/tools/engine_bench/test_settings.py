from __future__ import annotations

from typing import Any

import pytest

from seer_core.errors import ConfigError
from seer_core.tools.engine_bench.settings import BenchSettings


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"mixes": ["unifrom-4-256"]}, "did you mean 'uniform-4-256'"),
        ({"modes": ["routed", "statik"]}, "did you mean 'static'"),
        ({"graphs": "cudda"}, "did you mean 'cuda'"),
        ({"batches": [1, 65]}, "from 1 to 64"),
        ({"batches": [0]}, "from 1 to 64"),
        ({"steps": 0}, "steps"),
    ],
)
def test_what_cannot_be_measured_is_refused_by_name(options: dict[str, Any], named: str) -> None:
    with pytest.raises(ConfigError, match=named):
        BenchSettings(**options)
