"""The batches of a step: planned again only when a row has joined, left or grown. Runs nothing."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import torch

from seer_core.engine.batch import Batch
from seer_core.engine.plan import Plan
from seer_core.engine.planner import Planner
from seer_core.engine.row import ActiveRow
from seer_core.types import TokenRoles

Company = tuple[ActiveRow, ...]
"""Rows that run in one batch."""


class Lineup:
    """Who runs with whom. A batch is kept as long as its rows run together and compute the same positions.

    `predefined` says that plans run in the shapes they name, which then have graphs; otherwise rows are packed exactly
    and nothing is padded.
    """

    def __init__(self, planner: Planner, *, roles: TokenRoles, device: torch.device, predefined: bool) -> None:
        self._planner = planner
        self._roles, self._device, self._predefined = roles, device, predefined
        self._standing: list[tuple[ActiveRow, range]] = []
        self._batches: dict[Company, Batch] = {}

    def batches(self, rows: Sequence[ActiveRow]) -> list[Batch]:
        """All of `rows`, each in one batch; every row is told its path."""
        standing = [(row, row.computed) for row in rows]
        if standing != self._standing:
            plans = self._planner.plan([row.lengths for row in rows])
            self._batches = dict(self._planned(tuple(rows[i] for i in plan.rows), plan) for plan in plans)
            self._standing = standing
        return list(self._batches.values())

    def alone(self, rows: Company) -> Batch:
        """These rows in a batch that is not kept, in no predefined shape."""
        return Batch(rows, roles=self._roles, device=self._device, padded=False)

    def forget(self, rows: Collection[ActiveRow]) -> None:
        """Keep nothing of `rows`, nor of those they ran with."""
        self._standing = []
        self._batches = {c: batch for c, batch in self._batches.items() if not any(row in rows for row in c)}

    def _planned(self, company: Company, plan: Plan) -> tuple[Company, Batch]:
        for row in company:
            row.path = plan.path
        batch = self._batches.get(company)
        if batch is None or not batch.current:
            key = plan.key if self._predefined else None
            padded = key is not None and plan.path == "static"
            batch = Batch(company, roles=self._roles, device=self._device, padded=padded, key=key)
        return company, batch
