"""How few prompts suffice, and which margin the error asks for."""

from __future__ import annotations

import pytest

from seer_core.tools.readout_prompts import draws_of, study_margins, study_prompts
from tests.unit.tools.planted import noise, planted_magnitudes, planted_truth

TRUTH = planted_truth(rows=24)


def test_a_draw_is_tested_on_every_row_that_it_is_not_fitted_on() -> None:
    draws = list(draws_of(10, 4, 3))
    assert all(sorted([*inside, *outside]) == list(range(10)) for inside, outside in draws)
    assert len({tuple(inside) for inside, _ in draws}) == 3


def test_a_planted_end_is_found_from_few_prompts_and_no_size_takes_all_rows() -> None:
    rows = study_prompts(planted_magnitudes(TRUTH), TRUTH, ridge=1e-2, sizes=(8, 16, 24, 32), draws=2)
    assert [(row["prompts"], row["tested_rows"]) for row in rows] == [(8, 16), (16, 8)]
    assert all(row["cost_tokens"] <= row["cost_tokens_worst"] < 1.0 for row in rows)


def test_what_was_learnt_by_heart_does_not_count() -> None:
    # Two rows have fewer positions than there are units: their own ends are always found.
    (row,) = study_prompts(noise(TRUTH), TRUTH, ridge=1e-4, sizes=(2,), draws=2)
    assert row["cost_tokens"] > 2.0


def test_a_margin_that_covers_more_of_the_error_keeps_more_and_cuts_less() -> None:
    rows = study_margins(noise(TRUTH), TRUTH, ridge=1e-2, halves=2)
    plain = [row for row in rows if row["caution"] == 0.0]
    assert [row["quantile"] for row in plain] == [0.9, 0.95, 0.99, pytest.approx(0.995), 1.0]
    for name, sign in (("margin_tokens", 1), ("kept_tokens", 1), ("over_truncation", -1)):
        measured = [sign * row[name] for row in plain]
        assert measured == sorted(measured)
    assert plain[0]["margin_tokens"] < plain[-1]["margin_tokens"]


def test_an_end_that_is_always_found_needs_no_margin() -> None:
    rows = study_margins(planted_magnitudes(TRUTH), TRUTH, ridge=1e-2, halves=1)
    assert rows[0]["margin_tokens"] <= 1.0
    assert rows[0]["over_truncation"] == 0.0
