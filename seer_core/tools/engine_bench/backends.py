"""The graph back-ends by name."""

from __future__ import annotations

import torch

from seer_core.engine.graphs.backend import GraphBackend
from seer_core.errors import ConfigError


def backend_of(graphs: str, device: torch.device) -> GraphBackend | None:
    """The back-end of that name. Raises `ConfigError` where the device has none of the kind."""
    if graphs == "recording":
        from seer_core.engine.graphs.recording import RecordingGraphs

        return RecordingGraphs()
    if graphs == "cuda":
        if device.type != "cuda":
            raise ConfigError(f"graphs cuda need a CUDA device, not {device}", field="graphs")
        from seer_core.engine.graphs.cuda import CudaGraphs

        return CudaGraphs(device)
    return None
