"""From canvases that stay on the device to the inputs of the next step: sliced, packed, aligned and padded."""

from __future__ import annotations

from typing import Protocol

import torch
from torch import Tensor

from seer_core.kernels.compact import reference
from seer_core.kernels.compact.packed import Packed
from seer_core.kernels.compact.slot import Slot

__all__ = ["Compact", "Packed", "Slot", "compact_for"]


class Compact(Protocol):
    """Fills the inputs of a step, as `reference.compact` defines them."""

    def __call__(
        self, canvases: Tensor, table: Tensor, ends: Tensor, *, mask_id: int, last: int, out: Packed
    ) -> None: ...


def compact_for(device: torch.device) -> Compact:
    """The implementation for tensors on `device`."""
    if device.type == "cuda":
        from seer_core.kernels.compact.kernel import compact  # Triton exists where CUDA does

        return compact
    return reference.compact
