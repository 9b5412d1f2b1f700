from __future__ import annotations

import json
from typing import Any

from seer_core.tools.rivals.verdict import verdicts


def row(method: str, ratio: float | None, agreement: float = 1.0, canvas: int = 64) -> dict[str, Any]:
    oracle = None if ratio is None else ratio / 10
    ratios = {"ratio_to_baseline": ratio, "ratio_to_oracle": oracle}
    return {"method": method, "canvas": canvas, "batch": 1, "exact_agreement": agreement, **ratios}


def test_seer_is_held_against_the_fastest_rival_that_keeps_the_answers() -> None:
    rows = [row("fixed", 1.0), row("daedal", 4.0), row("fastdllm_dual", 20.0, 0.98), row("seer", 8.0)]
    (found,) = verdicts([*rows, row("oracle_free", 10.0)])
    assert (found["best_rival"], found["seer_against_best"], found["seer_to_free_oracle"]) == ("daedal", 2.0, 0.8)
    json.dumps(found, allow_nan=False)


def test_a_loss_is_said_as_one() -> None:
    (found,) = verdicts([row("fixed", 1.0), row("fastdllm_dual", 20.0), row("seer", 8.0)])
    assert (found["best_rival"], found["seer_against_best"]) == ("fastdllm_dual", 0.4)


def test_without_a_rival_the_baseline_is_the_best() -> None:
    (found,) = verdicts([row("fixed", 1.0), row("seer", 8.0), row("seer", None, canvas=32)])
    assert (found["best_rival"], found["seer_against_best"], found["seer_to_free_oracle"]) == ("fixed", 8.0, None)
