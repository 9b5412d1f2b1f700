"""What a back-end of graphs must do. Knows no shape and no model."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from torch import Tensor


class Graph(Protocol):
    """A captured body: replaying it repeats its operations on the very tensors it was captured with."""

    @property
    def size_bytes(self) -> int:
        """The memory that keeping it takes."""
        ...

    def replay(self) -> None:
        """Read the captured inputs as they are now and overwrite the captured output."""
        ...


class GraphBackend(Protocol):
    """Makes graphs."""

    def capture(self, body: Callable[[], Tensor]) -> tuple[Graph, Tensor]:
        """Capture `body`; returns the graph and the tensor that each replay overwrites.

        The body may be run, any number of times. Raises EngineError or RuntimeError where it cannot be captured: it
        reads a value on the host, has a shape that depends on values, or there is not enough memory.
        """
        ...
