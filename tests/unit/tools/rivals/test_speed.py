from __future__ import annotations

from typing import Any

import pytest

from seer_core.tools.rivals.speed import speed_of


def timed(seconds: float, tokens: int = 100) -> dict[str, Any]:
    clocks = {"seconds": seconds, "cpu_seconds": 2 * seconds}
    return {"requests": 4, "tokens": tokens, "steps": 40, "positions": 80.0, "head_positions": 8, **clocks}


def test_ratios_are_taken_inside_a_round_so_that_drift_cancels() -> None:
    rounds = [
        {"fixed": timed(f * 10.0), "seer": timed(f * 2.0), "oracle": timed(f * 1.0), "encoding": timed(f * 0.5)}
        for f in (1, 7, 3)
    ]
    found = speed_of(rounds, "seer")
    assert (found["ratio_to_baseline"], found["ratio_to_oracle"]) == (pytest.approx(5.0), pytest.approx(0.5))
    assert (found["steps"], found["positions"], found["head_positions"]) == (10.0, 20.0, 2.0)
    assert found["encoding_share"] == pytest.approx(0.25)
    assert found["valid_tokens_per_s"] == pytest.approx(100 / 6)


def test_fewer_valid_tokens_in_the_same_time_are_slower() -> None:
    found = speed_of([{"fixed": timed(1.0), "seer": timed(1.0, tokens=50), "encoding": timed(0.1)}], "seer")
    assert (found["ratio_to_baseline"], found["ratio_to_oracle"]) == (0.5, None)
