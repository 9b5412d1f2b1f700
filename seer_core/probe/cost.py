"""What a detector must have run before it can speak."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """`layers` of the decoder (None: all) over prompt and whole canvas, and with `head` its logits over the canvas.

    `tap` is the tensor that is read in the last of these layers; what of that layer lies behind it need not run.
    """

    layers: int | None
    head: bool = False
    tap: str | None = None

    @property
    def peeks(self) -> bool:
        """Whether the last layer's MLP may stop at its inner activations."""
        return self.tap in ("gate", "product")

    @property
    def free(self) -> bool:
        return self.layers == 0 and not self.head

    def layers_of(self, layers: int) -> int:
        """How many of a model's `layers` are run."""
        return layers if self.layers is None else self.layers


FREE = Cost(layers=0)
WHOLE_STEP = Cost(layers=None, head=True)
