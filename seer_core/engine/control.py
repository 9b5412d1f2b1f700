"""How far the rows of a batch are, posted by the device and polled by the host without stopping the device.

Legend: R row slots.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor


class Progress(NamedTuple):
    """Slots of a canvas before its first mask, and the first of those that holds an end token, or -1."""

    settled: int
    end: int

    @property
    def done(self) -> bool:
        """Whether the answer is known in full: an end token with everything before it committed."""
        return self.end >= 0


class ControlRecord:
    """The last record int32 [R, 2] that was posted; in pinned memory where the device is not the host."""

    def __init__(self, rows: int, device: torch.device) -> None:
        self._posted: torch.cuda.Event | None = torch.cuda.Event() if device.type == "cuda" else None
        self._host = torch.zeros(rows, 2, dtype=torch.int32, pin_memory=self._posted is not None)

    def post(self, record: Tensor) -> None:
        """Copy `record` as soon as the device has made it."""
        self._host.copy_(record, non_blocking=True)
        if self._posted is not None:
            self._posted.record()

    def read(self) -> list[Progress]:
        """What was posted last, once it has arrived."""
        if self._posted is not None:
            self._posted.synchronize()
        return [Progress(settled, end) for settled, end in self._host.tolist()]
