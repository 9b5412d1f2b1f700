"""Which canvas lengths run together. A mix of n rows is its distribution at n even quantiles, so that few rows are like
many and nothing is drawn. Knows no engine.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType

LengthAt = Callable[[float], float]
"""Quantile from 0 to 1 -> canvas tokens, before rounding."""

SHORTEST_TOKENS, LONGEST_TOKENS = 4, 256


def uniform(quantile: float) -> float:
    """Every length as often."""
    return SHORTEST_TOKENS + quantile * (LONGEST_TOKENS - SHORTEST_TOKENS)


def log_uniform(quantile: float) -> float:
    """As many between 4 and 8 as between 128 and 256: mostly short, as answers are."""
    return float(SHORTEST_TOKENS * (LONGEST_TOKENS / SHORTEST_TOKENS) ** quantile)


def equal(tokens: int, quantile: float) -> float:  # noqa: ARG001 - the mixes' common interface
    """One length only: nothing to gain."""
    return tokens


MIXES: Mapping[str, LengthAt] = MappingProxyType(
    {
        "uniform-4-256": uniform,
        "log-uniform-4-256": log_uniform,
        "equal-16": partial(equal, 16),
        "equal-64": partial(equal, 64),
    }
)


def lengths(mix: str, rows: int) -> list[int]:
    """The canvas of each of `rows` rows, ascending."""
    return [round(MIXES[mix]((index + 0.5) / rows)) for index in range(rows)]
