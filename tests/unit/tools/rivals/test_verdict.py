from __future__ import annotations

import json
from typing import Any

import pytest

from seer_core.tools.rivals.verdict import verdicts

SPEEDS = {"fixed": 1.0, "daedal": 4.0, "fastdllm_dual": 20.0, "oracle_free": 10.0}


def row(method: str, ratio: float | None, agreement: float = 1.0, canvas: int = 64) -> dict[str, Any]:
    oracle = None if ratio is None else ratio / 10
    ratios = {"ratio_to_baseline": ratio, "ratio_to_oracle": oracle}
    own = {"method": method, "canvas": canvas, "batch": 1, "exact_agreement": agreement, **ratios}
    if ratio is None:
        return own
    # Paired ratios need not be quotients of the ratios to the baseline: here they are 1.5 times those.
    return own | {"ratio_to": {name: 1.5 * ratio / one for name, one in SPEEDS.items()}, "cpu_ratio_to": SPEEDS}


def test_seer_is_held_against_the_fastest_rival_that_keeps_the_answers() -> None:
    rows = [row("fixed", 1.0), row("daedal", 4.0), row("fastdllm_dual", 20.0, 0.98), row("seer", 8.0)]
    (found,) = verdicts([*rows, row("oracle_free", 10.0)])
    assert (found["best_rival"], found["seer_against_best"], found["seer_to_free_oracle"]) == (
        "daedal",
        3.0,
        pytest.approx(1.2),
    )
    json.dumps(found, allow_nan=False)


def test_a_loss_is_said_as_one() -> None:
    (found,) = verdicts([row("fixed", 1.0), row("fastdllm_dual", 20.0), row("seer", 8.0)])
    assert (found["best_rival"], found["seer_against_best"]) == ("fastdllm_dual", pytest.approx(0.6))


def test_without_a_rival_the_baseline_is_the_best() -> None:
    (found,) = verdicts([row("fixed", 1.0), row("seer", 8.0), row("seer", None, canvas=32)])
    assert (found["best_rival"], found["seer_against_best"], found["seer_to_smartcrop"]) == ("fixed", 12.0, None)


def test_ours_must_keep_the_answers_too() -> None:
    rows = [row("fixed", 1.0), row("daedal", 4.0), row("seer", 8.0), row("seer_fastdllm_dual", 30.0, 0.98)]
    (found,) = verdicts(rows)
    assert "seer_against_best" in found
    assert "seer_fastdllm_dual_against_best" not in found
