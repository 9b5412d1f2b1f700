"""How many masks each step of a block commits at least. Knows no confidences and no tokens.

`even`, `shift` and `cosine` know every step's count beforehand. `timesteps` and `share` look at what is left: time runs
on a line from 1 to `TIME_LEFT`, and a step from t to s commits `1 - s / t` of the masks. All of it is float32, because
the references truncate float32 products.

Sources: `timesteps`, Dream (as in repository jacklishufan/LaViDa); `share`, Dimple (repository yu-rp/Dimple).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType

import torch

from seer_core.engine.schedule import SCHEDULES, Schedule

Pace = Callable[[int, int], int]
"""(steps of the block already made, masks left in it) -> how many of these are due; in the last step all."""

PaceMaker = Callable[[int, int, float], Pace]
"""(masks of the block, its steps, shift) -> its pace."""

TIME_LEFT = 1e-3


def counted(schedule: Schedule, masks: int, steps: int, shift: float) -> Pace:
    """The counts of a schedule, in their order."""
    counts = schedule(masks, steps, shift)
    return lambda step, left: min(left, counts[min(step, len(counts) - 1)])


def timesteps(masks: int, steps: int, shift: float) -> Pace:  # noqa: ARG001 - the pace makers' common interface
    """The share of one timestep; early steps may commit nothing, and the last one commits the rest."""
    times = torch.linspace(1, TIME_LEFT, steps + 1)

    def due(step: int, left: int) -> int:
        if step >= steps - 1:
            return left
        return int(left * (1 - times[step + 1] / times[step]))

    return due


def share(masks: int, steps: int, shift: float) -> Pace:  # noqa: ARG001 - the pace makers' common interface
    """From the share still masked to the first timestep below it; at least one."""
    times = torch.linspace(1, TIME_LEFT, steps + 1)

    def due(step: int, left: int) -> int:
        ratio = torch.tensor(left / masks)
        later = max(step + 1, int((times >= ratio).sum()))
        if later >= steps:
            return left
        return max(1, int(left * (1 - times[later] / ratio)))

    return due


PACES: Mapping[str, PaceMaker] = MappingProxyType(
    {**{name: partial(counted, each) for name, each in SCHEDULES.items()}, "timesteps": timesteps, "share": share}
)
