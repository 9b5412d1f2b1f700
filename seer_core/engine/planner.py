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
    """`tokens` are computed this step, `held` are the keys that are not; all that `copies` times."""

    index: int
    tokens: int
    held: int
    copies: int


class Planner:
    """A prompt that is recomputed counts as computed, and so as wasted, with its canvas."""

    def __init__(self, config: EngineConfig, footprint: Footprint) -> None:
        self._config = config
        self._footprint = footprint

    def plan(self, rows: Sequence[Lengths]) -> list[Plan]:
        """Plans that together run every row exactly once.

        None is larger than the budget, except for a row that is so alone (see `fits`).
        """
        longest_first = sorted(map(_row, range(len(rows)), rows), key=_size, reverse=True)
        widest = self._config.bucket_tokens[-1]
        outliers = [row for row in longest_first if row.tokens > widest]
        plans = [self._eager([row], f"{row.tokens} tokens are beyond the last bucket of {widest}") for row in outliers]
        for part in self._parts(longest_first[len(outliers) :]):
            plans += [self._judged(chunk) for chunk in self._chunks(part)]
        return plans

    def fits(self, lengths: Lengths) -> bool:
        """Whether the row alone is within the budget."""
        return self._exact_bytes([_row(0, lengths)]) <= self._config.plan_budget_bytes

    def _parts(self, rows: Sequence[_Row]) -> list[Sequence[_Row]]:
        """Neighbouring buckets together, so that what their shapes compute, and launching them, costs least."""
        groups = [list(members) for _, members in groupby(rows, lambda row: self._config.bucket_of(row.tokens))]
        starts = [0, *accumulate(map(len, groups))]
        slots = [0, *accumulate(map(_slots, groups))]
        tokens = [0, *accumulate(map(_tokens, groups))]
        best = [(0, 0)]  # of all groups before one: the least cost, and where the last part of it begins
        for end in range(1, len(groups) + 1):
            costs = (
                (
                    best[start][0]
                    + self._computed(slots[end] - slots[start], tokens[end] - tokens[start], groups[start][0].tokens)
                    + self._config.launch_tokens,
                    start,
                )
                for start in range(end)
            )
            best.append(min(costs))
        cuts = [len(groups)]
        while cuts[-1]:
            cuts.append(best[cuts[-1]][1])
        return [rows[starts[start] : starts[end]] for start, end in pairwise(reversed(cuts))]

    def _computed(self, slots: int, tokens: int, longest: int) -> int:
        """Positions of the shape that the rule gives `slots` rows of `tokens` in all."""
        padded = slots * self._config.bucket_of(longest)
        return padded if 1 - tokens / padded <= self._config.tau_pad else self._config.bucket_of(tokens)

    def _chunks(self, part: Sequence[_Row]) -> Iterator[list[_Row]]:
        """As many rows at a time as the budget and the largest batch size allow."""
        chunk: list[_Row] = []
        for row in part:
            too_large = self._exact_bytes([*chunk, row]) > self._config.plan_budget_bytes
            if chunk and (too_large or _slots([*chunk, row]) > self._config.row_slots[-1]):
                yield chunk
                chunk = []
            chunk.append(row)
        yield chunk

    def _judged(self, rows: list[_Row]) -> Plan:
        path, reason = self._rule(rows)
        if path == "eager":
            return self._eager(rows, reason)
        key = self._padded(rows) if path == "static" else self._packed(rows)
        size_bytes = self._footprint.size_bytes(key.tokens, _keys(rows))
        overruled = self._overruled(rows, key.tokens, size_bytes)
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
        slots = _slots(rows)
        if slots <= self._config.straggler_rows:
            return "eager", f"{slots} of its length, a straggler"
        if slots > self._config.row_slots[-1]:
            return "eager", f"{slots} rows are more than a shape has"
        if rows[0].tokens <= self._config.short_tokens:
            return "eager", f"no row is longer than {self._config.short_tokens} tokens"
        waste, limit = self._waste_ratio(rows), self._config.tau_pad
        told = f"padding {slots} rows to {self._config.bucket_of(rows[0].tokens)} wastes {waste:.1%}"
        return ("static", f"{told}, at most {limit:.0%}") if waste <= limit else ("varlen", f"{told}, over {limit:.0%}")

    def _overruled(self, rows: Sequence[_Row], computed: int, size_bytes: int) -> str | None:
        """Why a shape of `computed` positions and `size_bytes` is worse than none, if it is."""
        if size_bytes > self._config.plan_budget_bytes:
            return f"its shape would take {size_bytes} bytes of {self._config.plan_budget_bytes}"
        exact = _tokens(rows)
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
        return self._config.padded_shape(_slots(rows), rows[0].tokens, max(row.held for row in rows))

    def _packed(self, rows: Sequence[_Row]) -> ShapeKey:
        return self._padded(rows)._replace(tokens=self._config.bucket_of(_tokens(rows)))

    def _waste_ratio(self, rows: Sequence[_Row]) -> float:
        real = _tokens(rows)
        return 1 - real / (_slots(rows) * self._config.bucket_of(rows[0].tokens))

    def _exact_bytes(self, rows: Sequence[_Row]) -> int:
        """In no predefined shape."""
        computed = _tokens(rows)
        return self._footprint.size_bytes(computed, _keys(rows))


def _row(index: int, lengths: Lengths) -> _Row:
    computed, held, copies = lengths
    return _Row(index=index, tokens=computed, held=held, copies=copies)


def _slots(rows: Sequence[_Row]) -> int:
    return sum(row.copies for row in rows)


def _keys(rows: Sequence[_Row]) -> int:
    """Keys that are read; the pool holds no more for them, whatever the shape has room for."""
    return sum((row.tokens + row.held) * row.copies for row in rows)


def _tokens(rows: Sequence[_Row]) -> int:
    return sum(row.tokens * row.copies for row in rows)


def _size(row: _Row) -> tuple[int, int]:
    return row.tokens, row.held


def _indices(rows: Sequence[_Row]) -> tuple[int, ...]:
    return tuple(row.index for row in rows)
