"""How many masks of a block each denoising step commits.

Counts, not positions: which masks those are is `remasking`'s business. Curves are evaluated in float32, because the
truncation to whole tokens gives other counts in Python's floats than in the families' reference loops.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from types import MappingProxyType

import torch
from torch import Tensor

MAX_SHIFT = 1e6
"""Beyond it all is committed in the last step anyway, and further on the curve leaves float32."""

Schedule = Callable[[int, int, float], tuple[int, ...]]
"""(masks, steps, shift) -> commits of each step; they sum to `masks` and none is 0. At most one step per mask."""


def steps_for(length: int, steps_per_token: float) -> int:
    """Steps a block of `length` masks takes; never none, never more than one per mask."""
    # Without the rounding, 0.07 * 100 would ask for eight steps.
    return min(length, max(1, math.ceil(round(length * steps_per_token, 6))))


def even(masks: int, steps: int, shift: float) -> tuple[int, ...]:  # noqa: ARG001 - the schedules' common interface
    """As equal as whole tokens allow, the first steps one more."""
    steps = min(steps, masks)
    base, more = divmod(masks, steps)
    return (base + 1,) * more + (base,) * (steps - more)


def shifted(masks: int, steps: int, shift: float) -> tuple[int, ...]:
    """LaViDa's shifted curve: below 1 the early steps commit most, above 1 the late ones."""
    return _along(lambda t: shift * t / (1 + (shift - 1) * t), masks, steps)


def cosine(masks: int, steps: int, shift: float) -> tuple[int, ...]:  # noqa: ARG001 - as above
    """Half a cosine wave: few at both ends, most in the middle."""
    return _along(lambda t: (1 - torch.cos(math.pi * t)) / 2, masks, steps)


SCHEDULES: Mapping[str, Schedule] = MappingProxyType({"even": even, "shift": shifted, "cosine": cosine})


def _along(curve: Callable[[Tensor], Tensor], masks: int, steps: int) -> tuple[int, ...]:
    """Commits along `curve`, the share still masked at time t; time runs from 1 to 0, so the counts are reversed."""
    steps = min(steps, masks)
    levels = (curve(torch.linspace(0, 1, steps + 1)) * masks).to(torch.int64)
    levels[-1] = masks
    counts: list[int] = levels.diff().clamp(min=1).tolist()
    _take_back(counts, sum(counts) - masks)
    return tuple(reversed(counts))


def _take_back(counts: list[int], excess: int) -> None:
    """Lower the counts above 1 in turn, first to last and around again, until `excess` is gone."""
    index = 0
    while excess > 0:
        if counts[index] > 1:
            counts[index] -= 1
            excess -= 1
        index = (index + 1) % len(counts)
