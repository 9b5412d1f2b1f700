"""Settings of the routing policy that cannot work are refused by name."""

from __future__ import annotations

from typing import Any

import pytest

from seer_core.errors import ConfigError
from seer_core.router import RouterConfig


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        ({"bucket_tokens": ()}, "bucket_tokens"),
        ({"bucket_tokens": (8, 8)}, "bucket_tokens"),
        ({"bucket_tokens": (0, 8)}, "bucket_tokens"),
        ({"max_waiting": 0}, "max_waiting"),
        ({"max_group_rows": 0}, "max_group_rows"),
        ({"starving_s": -1.0}, "starving_s"),
        ({"step_s": -1.0}, "step_s"),
    ],
)
def test_a_wrong_setting_is_refused_by_name(wrong: dict[str, Any], field: str) -> None:
    with pytest.raises(ConfigError, match=field) as caught:
        RouterConfig(**wrong)
    assert caught.value.field == field
