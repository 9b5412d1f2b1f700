from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace

import pytest

from seer_core.errors import ConfigError
from seer_core.tools.evaluate import Sample, evaluate
from seer_core.tools.evaluation_record import Record, Summary
from tests.unit.tools.stand_ins import ScriptedStages

CANVAS = 16


def sample(script: str, kind: str = "list", answer: str | None = None) -> Sample:
    right = "x" * min(int(script.split()[0]), CANVAS)
    return Sample(image=b"", prompt=script, answers=(right if answer is None else answer,), kind=kind)


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


def test_scores_are_given_per_kind_and_per_metric() -> None:
    result = run(sample("4 4", "list"), sample("5 5", "count", answer="wrong"), sample("8 5 squeezes", "list"))
    right = {"score_untruncated": 1.0, "score": 0.5, "exact_match_untruncated": 1.0, "exact_match": 0.5}
    assert result["per_kind"] == {"count": {"count": 1, **dict.fromkeys(right, 0.0)}, "list": {"count": 2, **right}}
    two_thirds, one_third = pytest.approx(2 / 3), pytest.approx(1 / 3)
    assert result["per_metric"] == {
        "exact": {
            "count": 3,
            "score_untruncated": two_thirds,
            "score": one_third,
            "exact_match_untruncated": two_thirds,
            "exact_match": one_third,
        }
    }


def test_each_sample_is_scored_by_its_own_metric() -> None:
    squeezed = replace(sample("8 4 squeezes"), metric="anls")  # 4 of 8 characters are left, a distance of a half
    near = replace(sample("8 6 squeezes"), metric="anls")  # 6 of 8
    result = run(squeezed, near)
    assert (result["score_untruncated"], result["score"], result["exact_match"]) == (1.0, 0.375, 0.0)
    chosen = replace(sample("4 4", answer="B"), metric="choice", choices=("yy", "xxxx"))
    assert run(chosen)["score"] == 1.0


def test_any_of_several_right_answers_counts() -> None:
    assert run(replace(sample("4 4"), answers=("no", "xxxx")))["exact_match"] == 1.0


def test_the_result_is_plain_json() -> None:
    json.dumps(run(sample("4 4"), sample("4 -"), sample("16 3 squeezes")), allow_nan=False)


def test_no_samples_is_refused() -> None:
    with pytest.raises(ConfigError, match="no samples"):
        run()


class Kept:
    """Records in memory."""

    def __init__(self) -> None:
        self.records: dict[str, Record] = {}

    def add(self, records: Sequence[Record]) -> None:
        self.records.update((record.id, record) for record in records)


def test_what_has_a_record_is_not_run_again_and_counts_all_the_same() -> None:
    samples = [sample("4 4"), sample("8 5"), sample("7 7"), sample("8 5 squeezes")]
    kept, once, again = Kept(), ScriptedStages(), ScriptedStages()
    evaluate(once, samples[:3], canvas_tokens=CANVAS, kept=kept, batch_rows=2, progress=False)
    result = evaluate(again, samples, canvas_tokens=CANVAS, kept=kept, batch_rows=2, progress=False)
    assert [text for _, text in again.encoded] == ["8 5 squeezes"]
    assert list(kept.records) == ["0", "1", "2", "3"]
    whole = run(*samples)
    assert result == whole


def test_a_record_of_another_question_is_refused() -> None:
    kept = Kept()
    evaluate(ScriptedStages(), [sample("4 4")], canvas_tokens=CANVAS, kept=kept, progress=False)
    for changed in (sample("5 5"), sample("4 4", answer="y"), replace(sample("4 4"), metric="anls")):
        with pytest.raises(ConfigError, match="'0' is of another question"):
            evaluate(ScriptedStages(), [changed], canvas_tokens=CANVAS, kept=kept, progress=False)


def test_samples_that_cannot_be_told_apart_or_scored_are_refused() -> None:
    twin = replace(sample("4 4"), id="twin")
    with pytest.raises(ConfigError, match="two samples have the id 'twin'"):
        run(twin, twin)
    with pytest.raises(ConfigError, match="'0' has no right answer"):
        run(replace(sample("4 4"), answers=()))
