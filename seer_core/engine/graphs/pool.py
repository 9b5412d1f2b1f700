"""The graph pool: which shapes are captured, and how long they are kept. Knows no device and no model.

A shape of the core grid is captured at start, any other when it first runs; what does not fit the byte budget makes the
least recently used graphs leave. A shape that cannot be captured runs eagerly, always.
"""

from __future__ import annotations

import gc
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

import torch
from torch import Tensor

from seer_core.engine.graphs.backend import Graph, GraphBackend
from seer_core.errors import ConfigError, EngineError


class Shape(Hashable, Protocol):
    """What a graph is captured for."""

    @property
    def tokens(self) -> int:
        """Positions that it computes: the larger, the more memory."""
        ...


Key = TypeVar("Key", bound=Shape)
Inputs = TypeVar("Inputs", bound=tuple[Tensor, ...])

CAPTURE_FAILURES = (EngineError, RuntimeError, MemoryError)  # out of memory on a device is a RuntimeError


@dataclass(frozen=True, slots=True, kw_only=True)
class Captured(Generic[Inputs]):
    """A graph with the tensors it reads and the one it writes."""

    graph: Graph
    inputs: Inputs
    output: Tensor
    lazy: bool

    @property
    def size_bytes(self) -> int:
        return self.graph.size_bytes + sum(tensor.nbytes for tensor in self.inputs)

    def __call__(self, inputs: Inputs) -> Tensor:
        for index, (static, given) in enumerate(zip(self.inputs, inputs, strict=True)):
            if static.shape != given.shape or static.dtype != given.dtype:
                raise EngineError(
                    f"input {index} is {given.dtype} {tuple(given.shape)}, captured as {static.dtype} "
                    f"{tuple(static.shape)}"
                )
            static.copy_(given, non_blocking=True)
        self.graph.replay()
        return self.output.clone()  # the next replay overwrites the output


class GraphPool(Generic[Key, Inputs]):
    """Runs `body(key, inputs)` from graphs where it can; every output is the caller's own, without gradients.

    `allocate` makes the inputs of a shape, filled so that running the body on them harms nothing; a body's results may
    depend on them and on tensors that live as long as the pool. `hits`, `misses` and `evictions` count.
    """

    def __init__(
        self,
        backend: GraphBackend,
        body: Callable[[Key, Inputs], Tensor],
        allocate: Callable[[Key], Inputs],
        *,
        budget_bytes: int,
    ) -> None:
        self._backend = backend
        self._body = body
        self._allocate = allocate
        self._budget_bytes = budget_bytes
        self._graphs: OrderedDict[Key, Captured[Inputs]] = OrderedDict()  # least recently used first
        self._eager: set[Key] = set()  # cannot be captured
        self._lock = threading.Lock()
        self._largest_ran = False
        self.ready = False
        self.hits = self.misses = self.evictions = 0

    @property
    def captured(self) -> tuple[Key, ...]:
        """The shapes that have a graph, least recently used first."""
        return tuple(self._graphs)

    @property
    def size_bytes(self) -> int:
        """What all graphs and their inputs take; never more than the budget."""
        return sum(graph.size_bytes for graph in self._graphs.values())

    @torch.inference_mode()
    def prepare(self, keys: Sequence[Key], *, progress: Callable[[int, int], None] | None = None) -> None:
        """Capture the core grid, largest first; `progress` hears how many shapes of how many are done.

        The largest runs eagerly before, so that whatever memory a step may need has been asked for. A shape that cannot
        be captured, or no longer fits the budget, is left to run eagerly or to be captured later. Raises what the body
        raises.
        """
        order = sorted(dict.fromkeys(keys), key=lambda key: key.tokens, reverse=True)
        if not order:
            raise ConfigError("a graph pool needs at least one shape in its core grid")
        gc.collect()
        with self._alone(), _garbage_left_alone():
            self._body(order[0], self._allocate(order[0]))
            self._largest_ran = True
            for done, key in enumerate(order, start=1):
                if key not in self._graphs:
                    self._capture(key, lazy=False)
                if progress is not None:
                    progress(done, len(order))
            self.ready = True

    @torch.inference_mode()
    def run(self, key: Key, inputs: Inputs) -> Tensor:
        """The body's output, a tensor of the caller's own.

        Raises EngineError if another thread is in here, or if inputs have other shapes or types than those captured.
        """
        with self._alone():
            graph = self._graphs.get(key)
            if graph is not None:
                self.hits += 1
                self._graphs.move_to_end(key)
                return graph(inputs)
            self.misses += 1
            if self._largest_ran and key not in self._eager:
                with _garbage_left_alone():
                    graph = self._capture(key, lazy=True)
            return self._body(key, inputs) if graph is None else graph(inputs)

    def _capture(self, key: Key, *, lazy: bool) -> Captured[Inputs] | None:
        """The new graph, or None where there cannot be one."""
        graph = self._try(key, lazy)
        if graph is None:  # perhaps for want of memory
            self._evict([other for other, kept in self._graphs.items() if kept.lazy])
            graph = self._try(key, lazy)
        if graph is None or graph.size_bytes > self._budget_bytes:
            self._eager.add(key)
            return None
        if not lazy and self.size_bytes + graph.size_bytes > self._budget_bytes:
            return None  # larger shapes of the grid came first and stay
        while self.size_bytes + graph.size_bytes > self._budget_bytes:
            self._evict([next(iter(self._graphs))])
        self._graphs[key] = graph
        return graph

    def _try(self, key: Key, lazy: bool) -> Captured[Inputs] | None:
        try:
            inputs = self._allocate(key)
            graph, output = self._backend.capture(lambda: self._body(key, inputs))
        except CAPTURE_FAILURES:
            return None
        return Captured(graph=graph, inputs=inputs, output=output, lazy=lazy)

    def _evict(self, keys: Sequence[Key]) -> None:
        for key in keys:
            del self._graphs[key]
            self.evictions += 1

    @contextmanager
    def _alone(self) -> Iterator[None]:
        # Waiting would hide a second engine on the same static tensors; there must not be one.
        if not self._lock.acquire(blocking=False):
            raise EngineError("the graph pool is in use by another thread")
        try:
            yield
        finally:
            self._lock.release()


@contextmanager
def _garbage_left_alone() -> Iterator[None]:
    """Garbage collected during a capture may free device memory, which breaks the capture."""
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()
