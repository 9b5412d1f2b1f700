"""The whole flow in one process, no server: encode, forecast, group, run, text.

It is the offline API, the base of the command line, and the reference the deployments are tested against. Read this
file first. Only here and in `deployments` are the pieces put together.
"""

from __future__ import annotations

from collections.abc import Collection, Generator, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch

from seer_core.embedded import CHECKPOINT
from seer_core.engine.config import EngineConfig
from seer_core.engine.engine import Engine
from seer_core.engine.graphs import graphs_for
from seer_core.engine.row import Row
from seer_core.errors import EngineError
from seer_core.families.checkpoint import PROFILE
from seer_core.families.registry import CheckpointInfo, inspect, load_model, load_processor
from seer_core.preprocess.processor import Processor
from seer_core.probe.probe import Probe
from seer_core.probe.profile import Profile
from seer_core.probe.profile_file import load_profile
from seer_core.prompt import EncodedPrompt
from seer_core.router import Router, RouterConfig
from seer_core.types import Delta, Forecast, GenerationRequest, Outcome, Ticket


@dataclass(frozen=True, slots=True, kw_only=True)
class Pipeline:
    """One checkpoint, ready to answer. Every stage can be called on its own."""

    info: CheckpointInfo
    processor: Processor
    probe: Probe
    engine: Engine

    @classmethod
    def load(
        cls,
        folder: Path = CHECKPOINT,
        *,
        family: str | None = None,
        loop: str | None = None,
        device: str = "cpu",
        dtype: torch.dtype | None = None,
        max_rows: int = 16,
        profile: Profile | None = None,
    ) -> Pipeline:
        """Load a checkpoint folder; raises `ConfigError`, `WeightsError` or `ProfileError` that names what is wrong.

        `family` and `loop` are for those who know better than the checkpoint's own files; `seer models` lists both.
        `profile` None means the checkpoint's own `profile.json`, or the paper's numbers where it has none.
        """
        info = inspect(folder, family, loop)
        processor = load_processor(folder, family)
        model = load_model(folder, device=device, dtype=dtype, family=family)
        config = EngineConfig(max_rows=max_rows)
        graphs = graphs_for(model.decoder.device)
        engine = Engine(model.decoder, info.roles, processor.decode, config, loop=info.loop, graphs=graphs)
        engine.prepare()
        return cls(
            info=info,
            processor=processor,
            probe=Probe(model, info.roles, profile or find_profile(info), loop=info.loop),
            engine=engine,
        )

    def generate(self, requests: Sequence[GenerationRequest]) -> list[Outcome]:
        """Answer every request, in order; raises the first error any of them met."""
        prompts = self.encode(requests)
        return self.run(requests, prompts, self.forecast(requests, prompts))

    def stream(self, request: GenerationRequest) -> Generator[Delta, None, None]:
        """Answer one request in deltas: text as it becomes final, then the outcome or the error."""
        prompts = self.encode([request])
        yield from self._deltas([request], prompts, self.forecast([request], prompts))

    def encode(self, requests: Sequence[GenerationRequest]) -> list[EncodedPrompt]:
        """Messages to prompt embeddings; raises `RequestError` for what cannot be prepared."""
        prepared = [self.processor.prepare(r.messages, r.sampling.max_tokens) for r in requests]
        return [self.probe.encode(prompt) for prompt in prepared]

    def forecast(self, requests: Sequence[GenerationRequest], prompts: Sequence[EncodedPrompt]) -> list[Forecast]:
        """Where each answer will end, from the first layers of step 0."""
        canvases = [request.sampling.max_tokens for request in requests]
        return self.probe.forecast(prompts, canvases, [request.decoding for request in requests])

    def run(
        self, requests: Sequence[GenerationRequest], prompts: Sequence[EncodedPrompt], forecasts: Sequence[Forecast]
    ) -> list[Outcome]:
        """Denoise encoded requests under given forecasts; outcomes in the order of the requests."""
        outcomes: dict[str, Outcome] = {}
        for delta in self._deltas(requests, prompts, forecasts):
            if delta.error is not None:
                raise delta.error
            if delta.outcome is not None:
                outcomes[delta.id] = delta.outcome
        return [outcomes[request.id] for request in requests]

    def _deltas(
        self, requests: Sequence[GenerationRequest], prompts: Sequence[EncodedPrompt], forecasts: Sequence[Forecast]
    ) -> Generator[Delta, None, None]:
        rows = {
            request.id: Row(
                id=request.id,
                prompt=prompt,
                forecast=forecast,
                sampling=request.sampling,
                decoding=request.decoding,
            )
            for request, prompt, forecast in zip(requests, prompts, forecasts, strict=True)
        }
        if len(rows) < len(requests):
            raise EngineError("two requests have the same id")
        router = queue_of(rows.values())
        try:
            while len(router) or not self.engine.idle:
                while group := router.next_group(self.engine.free_rows, now_s=0.0):
                    self.engine.admit([rows[ticket.id] for ticket in group.tickets])
                yield from self.engine.step()
        finally:
            self.engine.cancel(rows)


def queue_of(rows: Collection[Row]) -> Router:
    """A router that holds the rows, none of which is ever late."""
    router = Router(RouterConfig(max_waiting=max(1, len(rows))))
    for row in rows:
        router.submit(ticket_of(row), now_s=0.0)
    return router


def ticket_of(row: Row) -> Ticket:
    """The row as the router sees it."""
    return Ticket(
        id=row.id,
        prompt_tokens=row.prompt.length_tokens,
        forecast_tokens=row.forecast.length_tokens,
        canvas_tokens=row.sampling.max_tokens,
        steps_per_token=row.decoding.steps_per_token,
        deadline_s=float("inf"),
    )


def find_profile(info: CheckpointInfo) -> Profile:
    """The profile beside the weights, checked against them; the paper's uncalibrated numbers where there is none."""
    path = info.folder / PROFILE
    if not path.exists():
        return Profile(fingerprint=info.fingerprint())
    return load_profile(path, fingerprint=info.fingerprint())
