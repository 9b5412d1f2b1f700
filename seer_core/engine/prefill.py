"""A prompt's keys and values, computed once where the prompt attends only to itself.

Legend: P prompt positions, D hidden width.
"""

from __future__ import annotations

import torch

from seer_core.engine.forward import Forward, StepInputs
from seer_core.engine.plan import ShapeKey
from seer_core.engine.row import Stream


def prefill(forward: Forward, stream: Stream) -> None:
    """Put the keys and values of the stream's prompt into its extent.

    One prompt at a time: they are exactly what the prompt alone gives, whoever joins with it.
    """
    count, device = len(stream.embeddings), stream.embeddings.device
    positions = torch.arange(count, device=device)
    start = stream.extent.start
    inputs = StepInputs(
        hidden=stream.embeddings,
        positions=positions,
        places=start + positions,
        query_starts=torch.tensor([0, count], device=device),
        key_starts=torch.tensor([start], device=device),
        key_lengths=torch.tensor([count], device=device),
    )
    forward(ShapeKey(1, count, count, count), inputs)
