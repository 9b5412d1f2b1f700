"""One step in which the masks of all rows are ranked together, as Dream's and Dimple's references do."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from seer_core.engine.pace import PACES
from seer_core.engine.row import ActiveRow
from seer_core.engine.sampler import Proposal, propose_together, rank
from tests.solo import Stage


@torch.inference_mode()
def pooled_step(stage: Stage, rows: Sequence[ActiveRow], step: int, steps: int) -> None:
    """Commit the surest of all rows' proposals, as many as Dimple's schedule has due for all of them."""
    open_rows = [row for row in rows if row.canvas.holes]
    batch = stage.batch(open_rows)
    logits = batch.logits(stage.forward.decoder, stage.forward(batch.shape, batch.inputs(stage.forward.decoder)))
    asks = [row.ask for row in open_rows]
    proposals = propose_together(logits, mask_id=stage.roles.mask_id, asks=asks)
    found = [each for each in proposals if isinstance(each, Proposal)]
    slots = [(row, slot) for row in open_rows for slot in row.canvas.holes]
    tokens = torch.cat([each.tokens for each in found]).tolist()
    total = sum(len(row.canvas) for row in rows)
    due = PACES["share"](total, steps, 1.0)(step, len(slots))
    for index in rank(torch.cat([each.confidence for each in found])).order[:due].tolist():
        row, slot = slots[index]
        row.canvas.commit([slot], [tokens[index]])
    for row in open_rows:
        row.steps += 1
