"""Graphs: a step's operations captured once per shape and replayed, on the device or, for tests, in a recording."""

from __future__ import annotations

import torch

from seer_core.engine.graphs.backend import GraphBackend


def graphs_for(device: torch.device) -> GraphBackend | None:
    """The back-end of `device`; None where steps run eagerly."""
    if device.type != "cuda":
        return None
    from seer_core.engine.graphs.cuda import CudaGraphs  # which captures once as soon as it is made

    return CudaGraphs(device)
