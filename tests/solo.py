"""One row stepped by hand, so that a test sees its canvas between the steps."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from seer_core.config import LoopFacts
from seer_core.engine.batch import Batch
from seer_core.engine.config import EngineConfig
from seer_core.engine.denoiser import denoise
from seer_core.engine.footprint import Footprint
from seer_core.engine.forward import Forward, forward_over
from seer_core.engine.intake import Intake
from seer_core.engine.key_pool import KeyPool
from seer_core.engine.planner import Planner
from seer_core.engine.row import ActiveRow, Row
from seer_core.engine.transcript import Decode
from seer_core.models.decoder import Decoder
from seer_core.types import TokenRoles

PREFIX_LM = LoopFacts(prefix_lm=True)


class Stage:
    """What an engine is made of, without its loop."""

    def __init__(
        self,
        decoder: Decoder,
        roles: TokenRoles,
        decode: Decode,
        *,
        loop: LoopFacts = PREFIX_LM,
        config: EngineConfig | None = None,
        places: int = 4096,
    ) -> None:
        config = config or EngineConfig()
        self.roles = roles
        self.pool = KeyPool(decoder.config, places, decoder.embedding.weight)
        for part in (*self.pool.keys, *self.pool.values):
            part[1:] = torch.nan  # what no row has written must never be read
        self.forward: Forward = forward_over(decoder, self.pool, None, graph_bytes=0)
        planner = Planner(config, Footprint.of(decoder.config, 4))
        self.intake = Intake(self.forward, planner, roles, decode, config, loop)

    def start(self, row: Row) -> ActiveRow:
        active = self.intake.start(row)
        assert active is not None
        return active

    def batch(self, rows: Sequence[ActiveRow], *, padded: bool = False) -> Batch:
        return Batch(rows, roles=self.roles, device=torch.device("cpu"), padded=padded)

    def step(self, batch: Batch) -> None:
        denoise(self.forward, batch, mask_id=self.roles.mask_id)
