"""How long a call takes on a device. Knows not what it does."""

from __future__ import annotations

from collections.abc import Callable
from statistics import median
from time import perf_counter

import torch

WARM_UPS, REPEATS = 3, 15


def median_s(call: Callable[[], object], device: torch.device) -> float:
    """Seconds from the call to when the device is done with it, the median of some after others that warmed up."""
    for _ in range(WARM_UPS):
        call()
    return median(_once(call, device) for _ in range(REPEATS))


def wait(device: torch.device) -> None:
    """Until all that was asked of the device is done."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)


def _once(call: Callable[[], object], device: torch.device) -> float:
    wait(device)
    start = perf_counter()
    call()
    wait(device)
    return perf_counter() - start
