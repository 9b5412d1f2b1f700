"""How a row starts and ends: options resolved, memory reserved, and its prompt computed once where that is exact."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from seer_core.config import LoopFacts
from seer_core.engine.config import EngineConfig
from seer_core.engine.forward import Forward
from seer_core.engine.key_pool import Extent
from seer_core.engine.plan import Lengths
from seer_core.engine.planner import Planner
from seer_core.engine.prefill import prefill
from seer_core.engine.row import ActiveRow, Row, Stream
from seer_core.engine.transcript import Decode
from seer_core.errors import ContextLengthExceeded
from seer_core.types import TokenRoles


class Intake:
    """Reserves for every row what it can grow to, so that a row that runs never lacks memory for keys."""

    def __init__(
        self,
        forward: Forward,
        planner: Planner,
        roles: TokenRoles,
        decode: Decode,
        config: EngineConfig,
        loop: LoopFacts,
    ) -> None:
        self._forward, self._planner, self._roles = forward, planner, roles
        self._decode, self._config, self._loop = decode, config, loop

    def start(self, row: Row) -> ActiveRow | None:
        """The row, ready for its first step; None where others hold the memory it needs.

        Raises `InvalidRequest` for options that cannot be, `ContextLengthExceeded` for a row that could never run.
        """
        positions = row.prompt.length_tokens + row.sampling.max_tokens
        active = ActiveRow(row, roles=self._roles, decode=self._decode, loop=self._loop)
        copies = 1 if active.guidance == 0 else 2
        self._check(positions, copies)
        extents = self._take([positions] * copies)
        if extents is None:
            return None
        try:
            active.streams = tuple(map(Stream, self._prompts(row, copies), extents))
            if self._loop.prefix_lm:
                self._prefill(active)
        except Exception:
            self._give_back(extents)
            raise
        return active

    def end(self, row: ActiveRow) -> None:
        """Free what the row had reserved."""
        self._give_back([stream.extent for stream in row.streams])
        row.streams = ()

    @torch.inference_mode()
    def _prefill(self, row: ActiveRow) -> None:
        hidden = [prefill(self._forward, stream)[-1:] for stream in row.streams]
        if self._loop.first_token_from_prompt:
            logits = row.guided([self._forward.decoder.logits(last) for last in hidden])
            logits[:, [self._roles.mask_id, *self._roles.banned_ids]] = -torch.inf
            row.start_with(int(logits.argmax(-1)))

    def _check(self, positions: int, copies: int) -> None:
        most = self._forward.decoder.config.max_positions
        if positions > most:
            raise ContextLengthExceeded(f"prompt and canvas take {positions} positions of {most}")
        if not self._planner.fits(Lengths(positions, 0, copies)):
            raise ContextLengthExceeded(f"prompt and canvas take more than {self._config.plan_budget_bytes} bytes")
        if positions * copies > self._forward.pool.places:
            raise ContextLengthExceeded(
                f"prompt and canvas need the keys of {positions * copies} positions; there is room for"
                f" {self._forward.pool.places}"
            )

    def _take(self, sizes: Sequence[int]) -> list[Extent] | None:
        """A stretch of the pool each, or none at all."""
        taken: list[Extent] = []
        for size in sizes:
            extent = self._forward.pool.take(size)
            if extent is None:
                self._give_back(taken)
                return None
            taken.append(extent)
        return taken

    def _give_back(self, extents: Sequence[Extent]) -> None:
        for extent in extents:
            self._forward.pool.give_back(extent)

    def _prompts(self, row: Row, copies: int) -> list[Tensor]:
        """The prompt, and for a guided row masks in its place."""
        own = row.prompt.embeddings.to(self._forward.decoder.embedding.weight)
        if copies == 1:
            return [own]
        masks = torch.full((len(own),), self._roles.mask_id, device=own.device)
        with torch.inference_mode():
            return [own, self._forward.decoder.embed(masks)]
