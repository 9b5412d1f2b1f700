from __future__ import annotations

import pytest

from seer_core.tools.engine_bench.mixes import MIXES, lengths


@pytest.mark.parametrize("mix", MIXES)
@pytest.mark.parametrize("rows", [1, 2, 16, 64])
def test_every_mix_gives_a_canvas_to_every_row(mix: str, rows: int) -> None:
    found = lengths(mix, rows)
    assert len(found) == rows
    assert all(4 <= tokens <= 256 for tokens in found)


def test_half_of_a_log_uniform_mix_is_below_the_geometric_mean_and_of_a_uniform_one_below_the_middle() -> None:
    assert sum(tokens < 32 for tokens in lengths("log-uniform-4-256", 32)) == 16
    assert sum(tokens < 130 for tokens in lengths("uniform-4-256", 32)) == 16


def test_equal_mixes_hold_one_length() -> None:
    assert set(lengths("equal-16", 8)) == {16}
    assert set(lengths("equal-64", 8)) == {64}
