"""The modes that are compared: one rule for all rows each, and the engine's own planner.

A fixed rule plans as the engine's planner would if it knew no other path, and never looks at costs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import groupby
from types import MappingProxyType

from seer_core.engine.config import EngineConfig
from seer_core.engine.footprint import Footprint
from seer_core.engine.forward import Forward
from seer_core.engine.plan import Lengths, Plan, ShapeKey
from seer_core.engine.planner import Planner
from seer_core.kernels.varlen_attention import varlen_attention_for
from seer_core.tools.engine_bench.rig import Rig, Way
from seer_core.types import Path

Group = tuple[Path, tuple[int, ...], ShapeKey | None]
Rule = Callable[[EngineConfig, Sequence[Lengths]], list[Group]]
"""Lengths of the rows of a step -> who runs together on which path in which shape."""


def naive_padding(config: EngineConfig, rows: Sequence[Lengths]) -> list[Group]:  # noqa: ARG001 - a `Rule`
    """One batch, every row as long as the longest."""
    longest = max(row.computed_tokens for row in rows)
    keys = longest + max(row.held_tokens for row in rows)
    return [("static", _longest_first(rows), ShapeKey(len(rows), len(rows) * longest, longest, keys))]


def static(config: EngineConfig, rows: Sequence[Lengths]) -> list[Group]:
    """A batch per bucket, every row as long as the bucket, in the predefined shape for as many rows."""

    def bucket(index: int) -> int:
        return config.bucket_of(rows[index].computed_tokens)

    groups = [tuple(members) for _, members in groupby(_longest_first(rows), key=bucket)]
    return [("static", group, _padded(config, [rows[index] for index in group])) for group in groups]


def varlen(config: EngineConfig, rows: Sequence[Lengths]) -> list[Group]:
    """One batch, packed, in the predefined shape for as many positions."""
    total = config.bucket_of(sum(row.computed_tokens for row in rows))
    return [("varlen", _longest_first(rows), _padded(config, rows)._replace(tokens=total))]


def eager(config: EngineConfig, rows: Sequence[Lengths]) -> list[Group]:  # noqa: ARG001 - a `Rule`
    """One batch, packed, in a shape of its own."""
    return [("eager", _longest_first(rows), None)]


class FixedPlanner(Planner):
    """Plans by one rule."""

    def __init__(self, config: EngineConfig, footprint: Footprint, rule: Rule) -> None:
        Planner.__init__(self, config, footprint)
        self._settings, self._rule_of_all = config, rule

    def plan(self, rows: Sequence[Lengths]) -> list[Plan]:
        """As the rule says; the other fields of a plan say nothing."""
        return [
            Plan(path=path, rows=group, key=key, waste_ratio=0.0, size_bytes=0, reason="the mode says so")
            for path, group, key in self._rule_of_all(self._settings, rows)
        ]


RULES: Mapping[str, Rule] = MappingProxyType(
    {"naive_padding": naive_padding, "static": static, "varlen": varlen, "eager": eager}
)


def way_of(mode: str, rig: Rig) -> Way:
    """How `mode` runs rows on `rig`: the predefined shapes by graphs, where there are any."""
    if mode == "routed":
        planner = Planner(rig.config, rig.footprint)
        return Way(lineup=rig.lineup(planner, predefined=rig.graphed), forward=rig.forward)
    planner = FixedPlanner(rig.config, rig.footprint, RULES[mode])
    in_graphs = mode in ("static", "varlen")
    plain = Forward(rig.decoder, rig.forward.pool, varlen_attention_for(rig.device))
    return Way(lineup=rig.lineup(planner, predefined=True), forward=rig.forward if in_graphs else plain)


def _padded(config: EngineConfig, rows: Sequence[Lengths]) -> ShapeKey:
    longest = max(row.computed_tokens for row in rows)
    return config.padded_shape(len(rows), longest, max(row.held_tokens for row in rows))


def _longest_first(rows: Sequence[Lengths]) -> tuple[int, ...]:
    return tuple(sorted(range(len(rows)), key=lambda index: rows[index], reverse=True))
