"""Readouts of some rows, tested on others."""

from __future__ import annotations

import torch

from seer_core.tools.readout_transfer import study_transfer
from tests.unit.tools.planted import UNITS, noise, planted_magnitudes, planted_truth

TRUTH = planted_truth(rows=32)
GROUPS = ["32" if row % 2 else "128" for row in range(32)]


def spoken_by_group() -> list[torch.Tensor]:
    """The end falls silent in half of the units, in one group, and grows loud in the same units, in the other."""
    rows = planted_magnitudes(TRUTH)
    for row, end in enumerate(TRUTH.end.tolist()):
        if GROUPS[row] == "128":
            rows[row][end:, : UNITS // 2] *= 100.0
    return rows


def test_what_one_group_says_otherwise_does_not_transfer_to_it() -> None:
    rows = study_transfer(spoken_by_group(), TRUTH, GROUPS, ridge=1e-2)
    cost = {(row["fitted_on"], row["tested_on"]): row["cost_tokens"] for row in rows}
    for name, other in (("32", "128"), ("128", "32")):
        assert cost[name, name] < 1.0
        assert cost[name, other] > 3.0
        assert cost["others", name] == cost[other, name]


def test_all_pairs_are_there_and_every_row_is_tested_once_in_each() -> None:
    rows = study_transfer(planted_magnitudes(TRUTH), TRUTH, GROUPS, ridge=1e-2)
    fitted = ["all", "all", "32", "32", "128", "128", "others", "others"]
    assert [row["fitted_on"] for row in rows] == fitted
    assert [row["tested_on"] for row in rows] == ["32", "128"] * 4
    assert {row["tested_rows"] for row in rows} == {16}


def test_rows_are_not_tested_by_what_was_fitted_on_them() -> None:
    rows = study_transfer(noise(TRUTH), TRUTH, GROUPS, ridge=1e-4)
    assert all(row["cost_tokens"] > 2.0 for row in rows)


def test_a_group_too_small_to_halve_is_not_fitted_on_alone() -> None:
    groups = ["rare", *["common"] * 31]
    rows = study_transfer(planted_magnitudes(TRUTH), TRUTH, groups, ridge=1e-2)
    assert ("rare", "rare") not in {(row["fitted_on"], row["tested_on"]) for row in rows}
    assert ("others", "rare") in {(row["fitted_on"], row["tested_on"]) for row in rows}


def test_rows_of_one_kind_have_no_others() -> None:
    rows = study_transfer(planted_magnitudes(TRUTH), TRUTH, ["same"] * 32, ridge=1e-2)
    assert [row["fitted_on"] for row in rows] == ["all", "same"]
