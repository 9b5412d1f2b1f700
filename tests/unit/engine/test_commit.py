"""How many proposals a step commits, by hand; and what rows make of it."""

from __future__ import annotations

import pytest
import torch

from seer_core.engine.commit import COMMITS, CommitNumbers
from seer_core.types import Decoding, Sampling
from tests.unit.engine.stage import ScriptedDecoder, make_engine, make_row, outcome_of, run_alone, run_dry, spell

END = 45
SURE = Decoding(commit="threshold", commit_threshold=0.9)


def commits(name: str, *confidence: float, due: int = 1, **numbers: float) -> int:
    return COMMITS[name](torch.tensor(confidence, dtype=torch.float64), due, CommitNumbers(**numbers))


def test_the_schedule_commits_what_is_due() -> None:
    assert commits("schedule", 0.99, 0.98, 0.97) == 1
    assert commits("schedule", 0.3, 0.2, 0.1, due=2) == 2


def test_the_threshold_commits_all_that_reach_it() -> None:
    assert commits("threshold", 0.99, 0.95, 0.9, 0.89) == 3
    assert commits("threshold", 0.99, 0.95, 0.9, 0.89, threshold=0.95) == 2


def test_the_most_confident_is_committed_however_unsure() -> None:
    assert commits("threshold", 0.2, 0.1) == 1
    assert commits("factor", 0.2, 0.1) == 1


@pytest.mark.parametrize("rule", ["threshold", "factor"])
def test_what_the_schedule_has_due_is_the_least(rule: str) -> None:
    assert commits(rule, 0.2, 0.1, 0.1, due=2) == 2
    assert commits(rule, 1.0, 1.0, 0.99, due=2) == 3


def test_a_threshold_of_one_is_never_reached_not_even_by_rounding() -> None:
    assert commits("threshold", 1.0, 1.0, 1.0, threshold=1.0) == 1


def test_the_factor_asks_more_of_every_further_token() -> None:
    # The products are 2 * 0.1, 3 * 0.2, 4 * 0.25 and 5 * 0.5.
    sure = (0.9, 0.8, 0.75, 0.5)
    assert commits("factor", *sure, factor=0.2) == 1
    assert commits("factor", *sure, factor=0.7) == 2
    assert commits("factor", *sure, factor=1.0) == 2
    assert commits("factor", *sure, factor=1.1) == 3
    assert commits("factor", *sure, factor=2.6) == 4


def test_the_confident_are_committed_and_what_is_due_only_where_there_are_none() -> None:
    assert commits("confident", 0.99, 0.95, 0.9, due=1) == 2
    assert commits("confident", 0.99, 0.2, 0.1, due=3) == 1
    assert commits("confident", 0.9, 0.2, 0.1, due=2) == 2


def scripted(text: str) -> ScriptedDecoder:
    """Sure of every slot, above 0.99."""
    return ScriptedDecoder([*spell(text), END])


def test_a_block_that_is_sure_takes_one_step_and_the_ragged_last_one_another() -> None:
    row = make_row(canvas=10, decoding=Decoding(commit="threshold", block_length=4, early_exit=False))
    outcome = run_alone(make_engine(scripted("abcde")), row)
    assert (outcome.text, outcome.steps, outcome.finish_reason) == ("abcde", 3, "stop")


def test_the_blocks_behind_the_end_are_never_run_with_early_exit() -> None:
    row = make_row(canvas=20, decoding=Decoding(commit="factor", block_length=4))
    outcome = run_alone(make_engine(scripted("abcde")), row)
    assert (outcome.text, outcome.steps) == ("abcde", 2)


def test_a_canvas_that_grows_takes_one_step_for_every_new_block() -> None:
    outcome = run_alone(make_engine(scripted("abcdefghijkl")), make_row(canvas=5, decoding=SURE))
    assert (outcome.text, outcome.regrown, outcome.steps, outcome.kept_tokens) == ("abcdefghijkl", 2, 3, 16)


def test_a_stop_string_inside_a_run_ends_the_answer_before_it() -> None:
    row = make_row(canvas=20, sampling=Sampling(max_tokens=64, stop=("lo w",)), decoding=SURE)
    outcome = run_alone(make_engine(scripted("hello world")), row)
    assert (outcome.text, outcome.steps, outcome.finish_reason) == ("hel", 1, "stop")


def test_rows_of_one_batch_have_their_own_rules() -> None:
    rules = {"schedule": 6, "threshold": 1, "factor": 1}
    rows = [make_row(name, canvas=9, decoding=Decoding(commit=name)) for name in rules]
    deltas = run_dry(make_engine(scripted("hello")), rows)
    assert {name: outcome_of(deltas[name]).steps for name in rules} == rules
    assert {outcome_of(deltas[name]).text for name in rules} == {"hello"}


def test_an_unreachable_threshold_is_the_plain_schedule() -> None:
    for steps_per_token in (1.0, 0.5):
        plain = Decoding(steps_per_token=steps_per_token)
        slow = Decoding(steps_per_token=steps_per_token, commit="threshold", commit_threshold=1.0)
        one, other = (run_alone(make_engine(scripted("abcde")), make_row(decoding=each)) for each in (plain, slow))
        assert one == other
