"""Muon: momentum whose matrix updates are orthogonalised, here in float32 and over stacks of equal shapes.

Newton-Schulz coefficients: Keller Jordan, "Muon" (2024). Half precision is avoided because CPUs are slow at it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

import torch
from torch import Tensor

COEFFICIENTS = (3.4445, -4.7750, 2.0315)
STEPS = 5


class Muon(torch.optim.Optimizer):
    """For matrices [rows, columns] only. `lr` is the size of an update relative to an orthogonal matrix."""

    def __init__(self, parameters: Iterable[Tensor], lr: float, momentum: float = 0.95) -> None:
        super().__init__(list(parameters), {"lr": lr, "momentum": momentum})

    @torch.no_grad()
    def step(self, closure: None = None) -> None:  # type: ignore[override]  # noqa: ARG002
        for group in self.param_groups:
            stacks: dict[torch.Size, list[Tensor]] = defaultdict(list)
            for parameter in group["params"]:
                if parameter.grad is not None:
                    stacks[parameter.shape].append(parameter)
            for shape, parameters in stacks.items():
                update = torch.stack([self._look_ahead(p, group["momentum"]) for p in parameters])
                scale = max(1.0, shape[0] / shape[1]) ** 0.5
                for parameter, direction in zip(parameters, orthogonalise(update), strict=True):
                    parameter.add_(direction, alpha=-group["lr"] * scale)

    def _look_ahead(self, parameter: Tensor, momentum: float) -> Tensor:
        assert parameter.grad is not None
        state = self.state[parameter]
        if "momentum" not in state:
            state["momentum"] = torch.zeros_like(parameter)
        buffer: Tensor = state["momentum"]
        buffer.lerp_(parameter.grad, 1 - momentum)
        return parameter.grad.lerp(buffer, momentum)


def orthogonalise(stack: Tensor) -> Tensor:
    """Newton-Schulz towards the nearest orthogonal matrix, for each of [n, rows, columns]."""
    a, b, c = COEFFICIENTS
    wide = stack.shape[1] > stack.shape[2]
    x: Tensor = stack.mT if wide else stack
    x = x / (x.norm(dim=(1, 2), keepdim=True) + 1e-7)
    for _ in range(STEPS):
        gram = x @ x.mT
        x = a * x + (b * gram + c * gram @ gram) @ x
    return x.mT if wide else x
