"""The denoising step."""

from __future__ import annotations

import torch

from seer_core.engine.batch import Batch
from seer_core.engine.forward import Forward
from seer_core.engine.row import ActiveRow, Written
from seer_core.engine.sampler import Proposal, propose_together
from seer_core.errors import EngineError


@torch.inference_mode()
def denoise(forward: Forward, batch: Batch, *, mask_id: int) -> None:
    """One step of every row: one forward, then each row commits its most confident proposals.

    An error of the forward is raised before any row has changed; one of a single row is kept in its `error`.
    Legend: T packed positions, M masked positions of the current blocks, D hidden width, V vocabulary.
    """
    inputs = batch.inputs(forward.decoder)
    hidden = forward(batch.shape, inputs, captured=batch.captured)  # [T, D]
    logits = batch.logits(forward.decoder, hidden)  # [M, V]
    proposals = propose_together(logits, mask_id=mask_id, asks=[row.ask for row in batch.rows])
    batch.commit([_written(row, proposal) for row, proposal in zip(batch.rows, proposals, strict=True)])
    for row, progress in zip(batch.rows, batch.progress(), strict=True):
        row.settle(progress)


def _written(row: ActiveRow, proposal: Proposal | EngineError) -> Written:
    try:
        if isinstance(proposal, EngineError):
            raise proposal
        return row.commit(proposal)
    except Exception as error:
        row.error = error
        return Written()
