"""Which rows of a step run together, and on which path. Pure: lengths in, plans out, each with its reason.

Rows are split where the padding saved is worth one more forward; then the padding waste ratio decides for each part:
static (padded to a bucket), varlen (packed), or eager (too long, too short or too few). Costs may overrule it to eager
only. Knows no torch, no model and no row beyond its lengths.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, groupby, pairwise

from seer_core.engine.config import EngineConfig
from seer_core.engine.footprint import Footprint
from seer_core.engine.plan import Lengths, Plan, ShapeKey
from seer_core.types import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class _Row:
    """`tokens` are computed every step, `held` are the prompt keys that are not."""

    index: int
    tokens: int
    held: int


class Planner:
    """`prefix_lm`: prompts are held as keys and values; otherwise they are computed, and so wasted, with the canvas."""

    def __init__(self, config: EngineConfig, footprint: Footprint, *, prefix_lm: bool) -> None:
        self._config = config
        self._footprint = footprint
        self._prefix_lm = prefix_lm

    def plan(self, rows: Sequence[Lengths]) -> list[Plan]:
        """Plans that together run every row exactly once.

        None is larger than the budget, except for a row that is so alone (see `fits`).
        """
        longest_first = sorted(map(self._row, range(len(rows)), rows), key=_size, reverse=True)
        widest = self._config.bucket_tokens[-1]
        outliers = [row for row in longest_first if row.tokens > widest]
        plans = [self._eager([row], f"{row.tokens} tokens are beyond the last bucket of {widest}") for row in outliers]
        for part in self._parts(longest_first[len(outliers) :]):
            plans += [self._judged(chunk) for chunk in self._chunks(part)]
        return plans

    def fits(self, lengths: Lengths) -> bool:
        """Whether the row alone is within the budget."""
        return self._exact_bytes([self._row(0, lengths)]) <= self._config.plan_budget_bytes

    def batches(self, plan: Plan, rows: Sequence[Lengths]) -> list[tuple[int, ...]]:
        """The plan as padded batches, for where nothing can be packed: packed rows of one bucket run together."""
        if plan.path != "varlen":
            return [plan.rows]
        by_bucket = groupby(plan.rows, lambda index: self._config.bucket_of(self._row(index, rows[index]).tokens))
        return [tuple(members) for _, members in by_bucket]

    def _row(self, index: int, lengths: Lengths) -> _Row:
        prompt, canvas = lengths
        computed, held = (0, prompt) if self._prefix_lm else (prompt, 0)
        return _Row(index=index, tokens=computed + canvas, held=held)

    def _parts(self, rows: Sequence[_Row]) -> list[Sequence[_Row]]:
        """Neighbouring buckets together, so that padding to the longest plus launching computes least."""
        groups = [list(members) for _, members in groupby(rows, lambda row: self._config.bucket_of(row.tokens))]
        starts = [0, *accumulate(map(len, groups))]
        best = [(0, 0)]  # of all groups before one: the least cost, and where the last part of it begins
        for end in range(1, len(groups) + 1):
            best.append(min(self._with_part(best, groups, starts, start, end) for start in range(end)))
        cuts = [len(groups)]
        while cuts[-1]:
            cuts.append(best[cuts[-1]][1])
        return [rows[starts[start] : starts[end]] for start, end in pairwise(reversed(cuts))]

    def _with_part(
        self,
        best: Sequence[tuple[int, int]],
        groups: Sequence[Sequence[_Row]],
        starts: Sequence[int],
        start: int,
        end: int,
    ) -> tuple[int, int]:
        padded = (starts[end] - starts[start]) * self._config.bucket_of(groups[start][0].tokens)
        return best[start][0] + padded + self._config.launch_tokens, start

    def _chunks(self, part: Sequence[_Row]) -> Iterator[list[_Row]]:
        """As many rows at a time as the budget and the largest batch size allow."""
        chunk: list[_Row] = []
        for row in part:
            too_large = self._exact_bytes([*chunk, row]) > self._config.plan_budget_bytes
            if chunk and (too_large or len(chunk) == self._config.row_slots[-1]):
                yield chunk
                chunk = []
            chunk.append(row)
        yield chunk

    def _judged(self, rows: list[_Row]) -> Plan:
        path, reason = self._rule(rows)
        if path == "eager":
            return self._eager(rows, reason)
        key = self._padded(rows) if path == "static" else self._packed(rows)
        slots = key.rows if path == "static" else 1
        size_bytes = self._footprint.size_bytes(slots * key.canvas_tokens, slots * key.key_tokens)
        overruled = self._overruled(rows, slots * key.canvas_tokens, size_bytes)
        if overruled:
            return self._eager(rows, f"{overruled}; otherwise {path}, as {reason}")
        return Plan(
            path=path,
            rows=_indices(rows),
            key=key,
            waste_ratio=self._waste_ratio(rows),
            size_bytes=size_bytes,
            reason=reason,
        )

    def _rule(self, rows: Sequence[_Row]) -> tuple[Path, str]:
        """The paper's."""
        if len(rows) <= self._config.straggler_rows:
            return "eager", f"{len(rows)} of its length, a straggler"
        if rows[0].tokens <= self._config.short_tokens:
            return "eager", f"no row is longer than {self._config.short_tokens} tokens"
        waste, limit = self._waste_ratio(rows), self._config.tau_pad
        told = f"padding {len(rows)} rows to {self._config.bucket_of(rows[0].tokens)} wastes {waste:.1%}"
        return ("static", f"{told}, at most {limit:.0%}") if waste <= limit else ("varlen", f"{told}, over {limit:.0%}")

    def _overruled(self, rows: Sequence[_Row], computed: int, size_bytes: int) -> str | None:
        """Why a shape of `computed` positions and `size_bytes` is worse than none, if it is."""
        if size_bytes > self._config.plan_budget_bytes:
            return f"its shape would take {size_bytes} bytes of {self._config.plan_budget_bytes}"
        exact = len(rows) * rows[0].tokens
        if exact + self._config.eager_tokens < computed:
            return f"its shape computes {computed} positions, {exact} without one"
        return None

    def _eager(self, rows: Sequence[_Row], reason: str) -> Plan:
        return Plan(
            path="eager",
            rows=_indices(rows),
            key=None,
            waste_ratio=self._waste_ratio(rows),
            size_bytes=self._exact_bytes(rows),
            reason=reason,
        )

    def _padded(self, rows: Sequence[_Row]) -> ShapeKey:
        canvas = self._config.bucket_of(rows[0].tokens)
        return ShapeKey(self._config.slots_of(len(rows)), canvas, self._held(max(row.held for row in rows)) + canvas)

    def _packed(self, rows: Sequence[_Row]) -> ShapeKey:
        canvas = self._config.bucket_of(sum(row.tokens for row in rows))
        return ShapeKey(self._config.slots_of(len(rows)), canvas, self._held(sum(row.held for row in rows)) + canvas)

    def _held(self, tokens: int) -> int:
        return self._config.bucket_of(tokens) if tokens else 0

    def _waste_ratio(self, rows: Sequence[_Row]) -> float:
        return 1 - sum(row.tokens for row in rows) / (len(rows) * self._config.bucket_of(rows[0].tokens))

    def _exact_bytes(self, rows: Sequence[_Row]) -> int:
        """Padded to the longest row and the longest prompt, to no bucket."""
        computed = len(rows) * rows[0].tokens
        return self._footprint.size_bytes(computed, computed + len(rows) * max(row.held for row in rows))


def _size(row: _Row) -> tuple[int, int]:
    return row.tokens, row.held


def _indices(rows: Sequence[_Row]) -> tuple[int, ...]:
    return tuple(row.index for row in rows)
