"""Paths."""

from __future__ import annotations

from seer_core.engine.plan import path_of


def test_a_straggler_runs_eagerly_and_company_is_padded() -> None:
    assert [path_of(rows) for rows in (1, 2, 16)] == ["eager", "static", "static"]
