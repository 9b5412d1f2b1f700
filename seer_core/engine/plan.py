"""How some rows run this step: on which path, in which shape, and why. Knows no torch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from seer_core.types import Path


class Lengths(NamedTuple):
    """What the planner sees of a row: positions computed this step, keys it attends to that are not, and how often.

    A guided row runs twice, with its prompt and without.
    """

    computed_tokens: int
    held_tokens: int
    copies: int = 1


class ShapeKey(NamedTuple):
    """A predefined shape: `rows` slots, and `tokens` positions in all.

    No slot computes more than `canvas_tokens` positions or attends to more than `key_tokens` keys; where rows are
    padded, each slot has exactly `canvas_tokens`. Where prompts are recomputed with the canvas, both count them.
    """

    rows: int
    tokens: int
    canvas_tokens: int
    key_tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """`rows` are indices into the rows of the step, shortest last. An eager plan has no predefined shape.

    `waste_ratio` is the padding waste 1 - sum(L_i) / (n * B) of these n rows in their bucket of B positions, whether
    they are padded in the end or not. `size_bytes` is what activations, keys and values are estimated to take.
    """

    path: Path
    rows: tuple[int, ...]
    key: ShapeKey | None
    waste_ratio: float
    size_bytes: int
    reason: str
