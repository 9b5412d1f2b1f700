"""One row of the table that says what a step computes. Knows no canvas and no pool.

Legend: P prompt positions, L canvas positions.
"""

from __future__ import annotations

from typing import NamedTuple


class Slot(NamedTuple):
    """What one row slot of a step holds; absolute positions count from the start of the prompt."""

    source: int
    """Row of the canvases, or -1: an empty slot, whose other numbers but `query_start` say nothing."""
    first: int
    """The first absolute position computed."""
    stop: int
    """One past the last."""
    prompt: int
    """P: canvas slot 0 sits at absolute position P."""
    length: int
    """L: the row has P + L keys; its canvas may be stored in a wider one."""
    key_start: int
    """Where its extent in the pool begins."""
    query_start: int
    """Where its positions begin in the pack; never less than that of the slot before."""
    shift: int
    """What to add to absolute positions from P on to get rotary ones."""
