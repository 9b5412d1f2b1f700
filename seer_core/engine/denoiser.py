"""The denoising step."""

from __future__ import annotations

import torch

from seer_core.engine.batch import Batch
from seer_core.models.decoder import Decoder


@torch.inference_mode()
def denoise(decoder: Decoder, batch: Batch) -> None:
    """One step of every row: one forward, then each row commits its most confident proposals.

    An error of the forward is raised before any row has changed; one of a single row is kept in its `error`.
    Legend: B rows, S positions, M masked positions of the current blocks, D hidden width, V vocabulary.
    """
    hidden, positions, mask = batch.inputs(decoder)  # [B, S, D]
    hidden, _ = decoder.run(hidden, positions, past=batch.past, key_mask=mask)
    logits = decoder.logits(batch.holes(hidden))  # [M, V]
    for row, own in zip(batch.rows, batch.by_row(logits), strict=True):
        try:
            row.advance(own)
        except Exception as error:
            row.error = error
