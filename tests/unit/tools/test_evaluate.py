from __future__ import annotations

import json

import pytest

from seer_core.errors import ConfigError
from seer_core.tools.evaluate import Sample, Summary, evaluate
from tests.unit.tools.stand_ins import ScriptedStages

CANVAS = 16


def sample(script: str, kind: str = "list", answer: str | None = None) -> Sample:
    right = "x" * min(int(script.split()[0]), CANVAS)
    return Sample(image=b"", prompt=script, answer=right if answer is None else answer, kind=kind)


def run(*samples: Sample, margin_tokens: int = 0, stages: ScriptedStages | None = None) -> Summary:
    stages = stages if stages is not None else ScriptedStages(margin_tokens)
    return evaluate(stages, samples, canvas_tokens=CANVAS, batch_rows=2, progress=False)


def test_a_perfect_detector_changes_nothing_and_saves_steps() -> None:
    result = run(sample("4 4"), sample("7 7"), sample("0 0"))
    assert (result["count"], result["canvas"], result["detector"]) == (3, CANVAS, "paper")
    assert result["exact_match_untruncated"] == result["exact_match"] == 1.0
    assert result["paired_agreement"] == result["paired_agreement_oracle"] == 1.0
    assert (result["boundary_mae_tokens"], result["detection_rate"]) == (0.0, 1.0)
    assert (result["over_truncation"], result["over_truncation_after_repair"], result["regrow_rate"]) == (0, 0, 0)
    assert (result["steps_untruncated"], result["steps"]) == (16.0, (5 + 8 + 1) / 3)


def test_an_early_cut_that_is_repaired_counts_as_over_truncation_before_repair_only() -> None:
    result = run(sample("8 5"), sample("8 8"))
    assert (result["over_truncation"], result["over_truncation_after_repair"]) == (0.5, 0.0)
    assert (result["regrow_rate"], result["paired_agreement"], result["paired_agreement_cut_short"]) == (0.5, 1.0, 1.0)
    assert result["boundary_mae_tokens"] == 1.5


def test_a_squeezed_answer_counts_after_repair_as_a_rate_and_as_rows() -> None:
    result = run(sample("8 5 squeezes"), sample("8 8"), sample("8 9"), sample("8 8"))
    assert (result["over_truncation_after_repair"], result["over_truncation_after_repair_rows"]) == (0.25, 1)
    assert (result["exact_match_untruncated"], result["exact_match"]) == (1.0, 0.75)
    assert (result["paired_agreement"], result["paired_agreement_cut_short"]) == (0.75, 0.0)
    assert result["paired_agreement_oracle"] == 1.0


def test_losing_only_the_end_tokens_slot_is_no_over_truncation() -> None:
    result = run(sample("8 7"))
    assert (result["over_truncation"], result["regrow_rate"], result["paired_agreement_cut_short"]) == (0.0, 1.0, None)


def test_the_margin_is_charged_for_and_given_to_the_oracle_too() -> None:
    stages = ScriptedStages(margin_tokens=3)
    result = run(sample("4 4"), sample("8 6"), sample("4 13"), stages=stages)
    assert result["margin_cost_tokens"] == pytest.approx((3 + 3 + 2) / 3)
    assert result["kept_tokens"] == pytest.approx((8 + 10 + 16) / 3)
    assert [12] in stages.runs  # the oracle's canvas for the second: 8 + 1 + 3


def test_the_oracle_is_run_only_where_its_canvas_differs() -> None:
    stages = ScriptedStages()
    run(sample("4 4"), sample("8 6"), stages=stages)
    assert stages.runs == [[16, 16], [5, 7], [9]]


def test_an_undetected_boundary_keeps_the_canvas_and_is_no_error() -> None:
    result = run(sample("4 -"), sample("5 5"))
    assert (result["detection_rate"], result["boundary_mae_tokens"], result["margin_cost_tokens"]) == (0.5, 0.0, 0.0)


def test_nothing_detected_at_all_has_no_mean_error() -> None:
    result = run(sample("4 -"))
    assert (result["detection_rate"], result["boundary_mae_tokens"]) == (0.0, None)


def test_an_answer_that_fills_the_canvas_has_its_end_behind_it() -> None:
    result = run(sample("16 -"), sample("30 10"))
    assert (result["over_truncation"], result["boundary_mae_tokens"]) == (0.5, 6.0)


def test_scores_are_given_per_kind() -> None:
    result = run(sample("4 4", "list"), sample("5 5", "count", answer="wrong"), sample("8 5 squeezes", "list"))
    assert result["per_kind"] == {
        "count": {"count": 1, "exact_match_untruncated": 0.0, "exact_match": 0.0},
        "list": {"count": 2, "exact_match_untruncated": 1.0, "exact_match": 0.5},
    }


def test_the_result_is_plain_json() -> None:
    json.dumps(run(sample("4 4"), sample("4 -"), sample("16 3 squeezes")), allow_nan=False)


def test_no_samples_is_refused() -> None:
    with pytest.raises(ConfigError, match="no samples"):
        run()
