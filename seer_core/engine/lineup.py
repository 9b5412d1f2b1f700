"""The batches of a step: planned again only when a row has joined, left or grown. Runs nothing."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from seer_core.engine.batch import Batch
from seer_core.engine.plan import Lengths
from seer_core.engine.planner import Planner
from seer_core.engine.row import ActiveRow

Company = tuple[ActiveRow, ...]
"""Rows that run in one batch."""


class Lineup:
    """Who runs with whom. A batch is kept as long as the same rows run together, as its prompts are stacked."""

    def __init__(self, planner: Planner, *, mask_id: int) -> None:
        self._planner = planner
        self._mask_id = mask_id
        self._standing: list[tuple[ActiveRow, int]] = []
        self._companies: list[Company] = []
        self._batches: dict[Company, Batch] = {}

    def companies(self, rows: Sequence[ActiveRow]) -> list[Company]:
        """All of `rows`, each in one company; every row is told its path."""
        standing = [(row, len(row.canvas)) for row in rows]
        if standing != self._standing:
            self._companies = self._planned(rows)
            self._batches = {company: self._batches[company] for company in self._companies if company in self._batches}
            self._standing = standing
        return self._companies

    def batch(self, company: Company) -> Batch:
        """Their batch, built when it is first asked for."""
        if company not in self._batches:
            self._batches[company] = Batch(company, mask_id=self._mask_id)
        return self._batches[company]

    def forget(self, rows: Collection[ActiveRow]) -> None:
        """Keep nothing of `rows`, nor of those they ran with."""
        self._standing = []
        self._companies = []
        self._batches = {c: batch for c, batch in self._batches.items() if not any(row in rows for row in c)}

    def _planned(self, rows: Sequence[ActiveRow]) -> list[Company]:
        lengths = [Lengths(row.prompt_tokens, len(row.canvas)) for row in rows]
        companies: list[Company] = []
        for plan in self._planner.plan(lengths):
            for index in plan.rows:
                rows[index].path = plan.path
            companies += [tuple(rows[i] for i in batch) for batch in self._planner.batches(plan, lengths)]
        return companies
