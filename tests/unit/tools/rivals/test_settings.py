from __future__ import annotations

import pytest

from seer_core.errors import ConfigError
from seer_core.tools.rivals.settings import EndToEndSettings


def test_the_published_table_has_a_thousand_rows_at_64_and_128_elsewhere() -> None:
    settings = EndToEndSettings()
    assert [settings.rows(canvas) for canvas in settings.canvases] == [128, 1000, 128, 128]
    assert [len(part) for part in settings.parts(64)][-2:] == [64, 40]
    assert settings.most_rows == 1000


def test_speed_is_not_measured_on_rows_without_quality() -> None:
    with pytest.raises(ConfigError, match="speed_rows"):
        EndToEndSettings(quality_rows=8, speed_rows=16)
    assert EndToEndSettings(quality_rows=8, speed_rows=16, rounds=0).rows(64) == 8
