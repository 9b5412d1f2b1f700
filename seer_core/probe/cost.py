"""What a detector must have run before it can speak."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """`layers` of the decoder (None: all) over prompt and whole canvas, and with `head` its logits over the canvas."""

    layers: int | None
    head: bool = False

    @property
    def free(self) -> bool:
        return self.layers == 0 and not self.head

    def layers_of(self, layers: int) -> int:
        """How many of a model's `layers` are run."""
        return layers if self.layers is None else self.layers


FREE = Cost(layers=0)
WHOLE_STEP = Cost(layers=None, head=True)
