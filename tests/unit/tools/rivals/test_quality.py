from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest

from seer_core.probe.detectors import whole_canvas
from seer_core.prompt import EncodedPrompt
from seer_core.tools.evaluate import Sample
from seer_core.tools.rivals.methods import METHODS
from seer_core.tools.rivals.quality import quality_cell, quality_of
from seer_core.tools.rivals.track import Track
from seer_core.types import Decoding, Forecast
from tests.unit.tools.stand_ins import ScriptedStages

CANVAS = 16


class WholeOnDemand(ScriptedStages):
    """Keeps the whole canvas of a request that asks for no truncation, as a probe does."""

    def forecast(
        self, prompts: Sequence[EncodedPrompt], canvas_tokens: Sequence[int], decodings: Sequence[Decoding]
    ) -> list[Forecast]:
        found = super().forecast(prompts, canvas_tokens, decodings)
        return [
            forecast if decoding.truncate else whole_canvas(forecast.canvas_tokens)
            for forecast, decoding in zip(found, decodings, strict=True)
        ]


def cells(*scripts: str, methods: tuple[str, ...] = ("fixed", "seer", "oracle")) -> dict[str, Any]:
    samples = [Sample(image=b"", prompt=s, answers=("x" * int(s.split()[0]),), kind="list") for s in scripts]
    stages = WholeOnDemand()
    track = Track(stages=stages, daedal={}, rows=2)
    made: dict[str, Any] = {}
    for name in methods:
        made[name] = quality_cell(track, METHODS[name], samples, CANVAS, made.get("fixed"), made.get("seer"))
    return {**made, "runs": stages.runs}


def numbers(made: dict[str, Any], method: str = "seer") -> dict[str, Any]:
    found = quality_of(made[method]["rows"], made["fixed"]["rows"], CANVAS)
    json.dumps(found, allow_nan=False)
    return found


def test_a_perfect_detector_changes_nothing() -> None:
    found = numbers(cells("4 4", "7 7"))
    assert (found["score"], found["exact_agreement"], found["boundary_mae_tokens"]) == (1.0, 1.0, 0.0)
    assert (found["over_truncation"], found["regrow_rate"], found["kept_tokens"]) == (0.0, 0.0, 6.5)
    assert 0.6 < found["over_truncation_wilson"] < 0.7  # two rows say little


def test_a_repaired_cut_counts_before_repair_and_a_squeezed_answer_after_it_too() -> None:
    found = numbers(cells("8 5", "8 5 squeezes", "8 8", "8 9"))
    assert (found["over_truncation"], found["over_truncation_after_repair_rows"]) == (0.5, 1)
    assert (found["cut_short_rows"], found["agreement_cut_short"], found["exact_agreement"]) == (2, 0.5, 0.75)
    assert found["regrow_rate"] == 0.25


def test_an_answer_is_scored_by_its_metric_over_all_right_answers() -> None:
    samples = [
        Sample(image=b"", prompt="4 4", answers=("five", "XXXX."), kind="count"),
        Sample(image=b"", prompt="4 4", answers=("xxxy",), kind="count", metric="anls"),
        Sample(image=b"", prompt="4 4", answers=("B",), kind="count", metric="choice", choices=("yy", "xxxx")),
    ]
    cell = quality_cell(Track(stages=WholeOnDemand(), daedal={}, rows=2), METHODS["fixed"], samples, CANVAS, None, None)
    assert [record["right"] for record in cell["rows"]] == [1.0, 0.75, 1.0]


def test_an_end_that_is_not_seen_is_no_error() -> None:
    found = numbers(cells("4 -", "5 6"))
    assert (found["detection_rate"], found["boundary_mae_tokens"]) == (0.5, 1.0)


def test_a_plain_method_is_run_again_only_where_it_foresees_another_length() -> None:
    made = cells("4 4", "8 6", "5 5")
    assert made["runs"] == [[16, 16, 16], [5, 7, 6], [9]]
    assert numbers(made, "oracle")["boundary_mae_tokens"] == 0.0


@pytest.mark.parametrize("method", ["oracle", "oracle_free"])
def test_an_oracle_keeps_the_whole_canvas_where_no_end_came(method: str) -> None:
    made = cells("30 3", methods=("fixed", "seer", method))
    assert made[method]["rows"][0]["kept"] == CANVAS
