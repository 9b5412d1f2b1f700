"""An engine's parts without its loop, and the loop of a bench: rows run until their canvas is full, then leave.

Knows no text: nothing ends early, grows or is decoded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import torch

from seer_core.config import LoopFacts
from seer_core.engine.batch import Batch
from seer_core.engine.config import EngineConfig
from seer_core.engine.denoiser import denoise
from seer_core.engine.footprint import Footprint
from seer_core.engine.forward import Forward, forward_over
from seer_core.engine.graphs.backend import GraphBackend
from seer_core.engine.intake import Intake
from seer_core.engine.key_pool import KeyPool
from seer_core.engine.lineup import Lineup
from seer_core.engine.planner import Planner
from seer_core.engine.row import ActiveRow, Row
from seer_core.errors import EngineError
from seer_core.models.decoder import Decoder
from seer_core.probe.detectors import whole_canvas
from seer_core.prompt import EncodedPrompt
from seer_core.types import Decoding, Sampling, TokenRoles

See = Callable[[Sequence[ActiveRow], Sequence[Batch]], None]
"""Told who runs, and how, before each step."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """One way to run rows: who shares a batch in which shape, and the forward that runs it."""

    lineup: Lineup
    forward: Forward


class Rig:
    """Memory for keys, rows with random prompts, and steps. `forward` replays graphs where there are any."""

    def __init__(
        self,
        decoder: Decoder,
        roles: TokenRoles,
        *,
        loop: LoopFacts,
        places: int,
        graphs: GraphBackend | None = None,
        config: EngineConfig | None = None,
    ) -> None:
        self.decoder, self.roles, self.config = decoder, roles, config or EngineConfig()
        weight = decoder.embedding.weight
        self.device = weight.device
        self.footprint = Footprint.of(decoder.config, weight.element_size())
        self.graphed = graphs is not None
        pool = KeyPool(decoder.config, places, weight)
        self.forward = forward_over(decoder, pool, graphs, graph_bytes=self.config.graph_memory_bytes)
        planner = Planner(self.config, self.footprint)
        self._intake = Intake(self.forward, planner, roles, lambda _: "", self.config, loop)

    def lineup(self, planner: Planner, *, predefined: bool) -> Lineup:
        """A lineup that batches as `planner` says."""
        return Lineup(planner, roles=self.roles, device=self.device, predefined=predefined)

    def start(self, lengths: Sequence[int], prompt_tokens: int, decoding: Callable[[int], Decoding]) -> list[ActiveRow]:
        """A row per canvas length, its prompt already computed where that is done once; `decoding` is by length."""
        return [self._started(n, tokens, prompt_tokens, decoding(tokens)) for n, tokens in enumerate(lengths)]

    def run(self, way: Way, rows: Sequence[ActiveRow], see: See | None = None) -> int:
        """Step until every row's canvas is full; how many steps that took."""
        return sum(1 for _ in self.steps(way, rows, see))

    def steps(self, way: Way, rows: Sequence[ActiveRow], see: See | None = None) -> Iterator[None]:
        """A step at a time until every row's canvas is full. Rows leave then; when all have, their memory is free."""
        running = list(rows)
        try:
            while running:
                batches = way.lineup.batches(running)
                if see is not None:
                    see(running, batches)
                for batch in batches:
                    denoise(way.forward, batch, mask_id=self.roles.mask_id)
                running = _those_left(way.lineup, running)
                yield
        finally:
            way.lineup.forget(running)
            self.end(rows)

    def end(self, rows: Sequence[ActiveRow]) -> None:
        """Free what the rows had reserved."""
        for row in rows:
            self._intake.end(row)

    def synchronize(self) -> None:
        """Wait for the device."""
        if self.device.type == "cuda":
            torch.cuda.synchronize(self.device)

    def _started(self, index: int, tokens: int, prompt_tokens: int, decoding: Decoding) -> ActiveRow:
        generator = torch.Generator().manual_seed(index)
        embeddings = torch.randn(prompt_tokens, self.decoder.config.hidden_size, generator=generator)
        row = Row(
            id=str(index),
            prompt=EncodedPrompt(embeddings=embeddings),
            forecast=whole_canvas(tokens),
            sampling=Sampling(max_tokens=tokens),
            decoding=decoding,
        )
        active = self._intake.start(row)
        if active is None:
            raise EngineError(f"no memory for the keys of row {index}")
        return active


def _those_left(lineup: Lineup, running: Sequence[ActiveRow]) -> list[ActiveRow]:
    for row in running:
        if row.error is not None:
            raise row.error
    left = [row for row in running if not row.canvas.complete]
    if len(left) < len(running):
        lineup.forget([row for row in running if row.canvas.complete])
    return left
