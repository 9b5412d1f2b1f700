"""Where methods run: the same weights behind an engine of so many rows, and DAEDAL's loop of as many."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, Protocol

from seer_core.config import LoopFacts
from seer_core.engine.config import EngineConfig
from seer_core.engine.engine import Engine
from seer_core.engine.graphs import graphs_for
from seer_core.errors import ConfigError
from seer_core.pipeline import Pipeline
from seer_core.probe.detectors import holds, whole_canvas
from seer_core.probe.probe import Probe
from seer_core.prompt import EncodedPrompt
from seer_core.tools.evaluate import oracle_forecast
from seer_core.tools.rivals.daedal import Daedal, runs_on
from seer_core.tools.rivals.daedal_canvas import DaedalSettings
from seer_core.tools.rivals.methods import DAEDAL_STARTS, METHODS, Method
from seer_core.tools.stages import Stages, batches
from seer_core.types import Decoding, Forecast, GenerationRequest, Outcome


class Loop(Protocol):
    """A loop of its own beside the engine."""

    def run(self, requests: Sequence[GenerationRequest], prompts: Sequence[EncodedPrompt]) -> list[Outcome]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One request under one method; `boundary` is the slot where its detector saw the end, if it has one and did."""

    outcome: Outcome
    boundary: int | None


class Foreseen(NamedTuple):
    """A request that is ready to be denoised."""

    request: GenerationRequest
    prompt: EncodedPrompt
    forecast: Forecast


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Track:
    """At most `rows` rows run together, and so many prompts are probed together.

    `daedal` holds DAEDAL's loops by the length they begin with; none where it cannot run.
    """

    stages: Stages
    daedal: Mapping[int, Loop]
    rows: int

    def attempt(
        self, method: Method, requests: Sequence[GenerationRequest], ends: Sequence[int | None]
    ) -> list[Attempt]:
        """All of it, from pictures to text; `ends` are the untruncated runs' ends, for oracles only."""
        if method.daedal_from is not None:
            return self._daedal(method.daedal_from, requests)
        foreseen = self.foresee(method, requests, ends)
        outcomes = self.run(foreseen)
        return [Attempt(outcome=o, boundary=f.forecast.boundary) for o, f in zip(outcomes, foreseen, strict=True)]

    def foresee(
        self, method: Method, requests: Sequence[GenerationRequest], ends: Sequence[int | None]
    ) -> list[Foreseen]:
        """The requests encoded, and their lengths foreseen."""
        requests = [replace(request, decoding=method.decoding) for request in requests]
        prompts = self._encode(requests)
        forecasts = self._forecasts(method, requests, prompts, ends)
        return [Foreseen(*each) for each in zip(requests, prompts, forecasts, strict=True)]

    def run(self, foreseen: Sequence[Foreseen]) -> list[Outcome]:
        """Denoise them."""
        if not foreseen:
            return []
        requests, prompts, forecasts = zip(*foreseen, strict=True)
        return self.stages.run(requests, prompts, forecasts)

    def _daedal(self, start_tokens: int, requests: Sequence[GenerationRequest]) -> list[Attempt]:
        if start_tokens not in self.daedal:
            raise ConfigError("daedal cannot run on this checkpoint; leave it out of the methods", field="methods")
        outcomes = self.daedal[start_tokens].run(requests, self._encode(requests))
        return [Attempt(outcome=outcome, boundary=None) for outcome in outcomes]

    def _encode(self, requests: Sequence[GenerationRequest]) -> list[EncodedPrompt]:
        return [prompt for batch in batches(requests, self.rows) for prompt in self.stages.encode(batch)]

    def _forecasts(
        self,
        method: Method,
        requests: Sequence[GenerationRequest],
        prompts: Sequence[EncodedPrompt],
        ends: Sequence[int | None],
    ) -> list[Forecast]:
        canvases = [request.sampling.max_tokens for request in requests]
        if method.sees == "free_oracle":
            found = [whole_canvas(canvas) for canvas in canvases]
        else:
            parts = batches(range(len(prompts)), self.rows)
            found = [forecast for rows in parts for forecast in self._probed(method, prompts, canvases, rows)]
        if method.sees == "detector":
            return found
        return [oracle_forecast(forecast, end, 0) for forecast, end in zip(found, ends, strict=True)]

    def _probed(
        self, method: Method, prompts: Sequence[EncodedPrompt], canvases: Sequence[int], rows: Sequence[int]
    ) -> list[Forecast]:
        decodings: list[Decoding] = [method.decoding] * len(rows)
        return self.stages.probe.forecast([prompts[row] for row in rows], [canvases[row] for row in rows], decodings)


def track_over(pipeline: Pipeline, rows: int) -> Track:
    """A track over the pipeline's weights, with an engine of its own."""
    info, decoder = pipeline.info, pipeline.probe.model.decoder
    decode = pipeline.processor.decode
    config = EngineConfig(max_rows=rows)
    engine = Engine(decoder, info.roles, decode, config, loop=info.loop, graphs=graphs_for(decoder.device))
    engine.prepare()
    return Track(stages=replace(pipeline, engine=engine), daedal=_daedals(pipeline, rows), rows=rows)


def methods_on(probe: Probe, loop: LoopFacts, names: Collection[str] | None) -> tuple[str, ...]:
    """The methods of these names; for None, all that can run here. Raises `ConfigError` for a named one that cannot."""
    here = [name for name, method in METHODS.items() if _runs(method, probe, loop)]
    if names is None:
        return tuple(here)
    for name in names:
        if name not in here:
            raise ConfigError(f"{name} cannot run on this checkpoint; leave it out of the methods", field="methods")
    return tuple(names)


def _runs(method: Method, probe: Probe, loop: LoopFacts) -> bool:
    """DAEDAL needs logits that are not shifted, a detector its section of the profile."""
    if method.daedal_from is not None:
        return runs_on(probe.model.decoder, loop)
    return method.decoding.detector is None or holds(probe.profile, method.decoding.detector)


def _daedals(pipeline: Pipeline, rows: int) -> dict[int, Loop]:
    info, decoder, decode = pipeline.info, pipeline.probe.model.decoder, pipeline.processor.decode
    loops: dict[int, Loop] = {}
    for start in DAEDAL_STARTS.values() if runs_on(decoder, info.loop) else ():
        settings = DaedalSettings(start_tokens=start)
        loops[start] = Daedal(decoder, info.roles, decode, loop=info.loop, max_rows=rows, settings=settings)
    return loops
