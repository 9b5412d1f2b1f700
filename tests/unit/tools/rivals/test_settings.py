from __future__ import annotations

import json
from dataclasses import asdict

import pytest

from seer_core.errors import ConfigError
from seer_core.tools.rivals.settings import EndToEndSettings


def test_the_published_table_has_a_thousand_rows_at_64_and_128_elsewhere() -> None:
    settings = EndToEndSettings()
    assert [settings.rows(canvas) for canvas in settings.canvases] == [128, 1000, 128, 128]
    assert [len(part) for part in settings.parts(64)][-2:] == [64, 40]
    assert settings.most_rows == 1000


def test_fewer_questions_than_the_published_table_has_are_all_there_is() -> None:
    few = EndToEndSettings().upto(70)
    assert {few.rows(canvas) for canvas in few.canvases} == {70}
    assert few.parts(64) == [range(64), range(64, 70)]
    assert (few.most_rows, few.speed_rows, EndToEndSettings().upto(3).speed_rows) == (70, 48, 3)
    many = EndToEndSettings().upto(5000)
    assert (many.most_rows, many.speed_rows) == (1000, 48)
    json.dumps(asdict(few))


def test_no_question_at_all_is_refused() -> None:
    with pytest.raises(ConfigError, match="no questions"):
        EndToEndSettings().upto(0)


def test_speed_is_not_measured_on_rows_without_quality() -> None:
    with pytest.raises(ConfigError, match="speed_rows"):
        EndToEndSettings(quality_rows=8, speed_rows=16)
    assert EndToEndSettings(quality_rows=8, speed_rows=16, rounds=0).rows(64) == 8
