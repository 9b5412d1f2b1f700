"""CUDA graphs in one memory pool. Knows no shape and no model."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor


class CudaGraphs:
    """The back-end of one device.

    Captures share memory: each may reuse what the intermediate results of those before it took. Hence one replay at a
    time, and outputs are copied before the next.
    """

    def __init__(self, device: torch.device) -> None:
        self._device = device
        self._stream = torch.cuda.Stream(device)
        self._pool = torch.cuda.graph_pool_handle()
        self._anchor: CudaGraph | None = None

    def capture(self, body: Callable[[], Tensor]) -> tuple[CudaGraph, Tensor]:
        """Run `body` once to warm up, then capture it. Raises RuntimeError where CUDA cannot."""
        # A capture that fails leaves its stream current; the outer context puts the caller's back.
        with torch.cuda.device(self._device), torch.cuda.stream(torch.cuda.current_stream(self._device)):
            if self._anchor is None:
                # A memory pool dies with its last graph, and eviction may take all that matter; this one stays.
                self._pool = torch.cuda.graph_pool_handle()
                self._anchor, _ = self._record(lambda: torch.zeros(1, device=self._device))
            self._warm_up(body)
            try:
                return self._record(body)
            except BaseException:
                self._anchor = None  # the allocator may still take the pool for recording: go on in another
                raise

    def _record(self, body: Callable[[], Tensor]) -> tuple[CudaGraph, Tensor]:
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, pool=self._pool, stream=self._stream, capture_error_mode="thread_local"):
            before_bytes = torch.cuda.memory_reserved(self._device)  # after caches were emptied on entry
            output = body()
            grown_bytes = torch.cuda.memory_reserved(self._device) - before_bytes
        return CudaGraph(graph, max(grown_bytes, 0)), output

    def _warm_up(self, body: Callable[[], Tensor]) -> None:
        """Libraries choose algorithms and allocate workspaces on first use, which a capture cannot hold."""
        self._stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(self._stream):
            body()
        torch.cuda.current_stream().wait_stream(self._stream)


class CudaGraph:
    """A graph and the growth of reserved memory that its capture caused; nothing where it fitted what was there."""

    def __init__(self, graph: torch.cuda.CUDAGraph, size_bytes: int) -> None:
        self._graph = graph
        self.size_bytes = size_bytes

    def replay(self) -> None:
        """Enqueue it on the current stream."""
        self._graph.replay()
