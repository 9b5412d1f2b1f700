"""A whole track over random weights: a real probe, a real engine and DAEDAL, prompts made of the request's text."""

from __future__ import annotations

from collections.abc import Sequence

from seer_core.config import LoopFacts
from seer_core.engine.config import EngineConfig
from seer_core.engine.engine import Engine, Row
from seer_core.probe.probe import Probe
from seer_core.probe.profile import PaperRule, Profile, Readout
from seer_core.prompt import EncodedPrompt
from seer_core.tools.evaluate import Sample
from seer_core.tools.rivals.daedal import Daedal
from seer_core.tools.rivals.methods import DAEDAL_STARTS
from seer_core.tools.rivals.track import Track
from seer_core.types import Forecast, GenerationRequest, Outcome
from tests.unit.probe.tiny import ROLES, random_prompt, tiny_model

LOOP = LoopFacts(prefix_lm=True)


def decode(ids: Sequence[int]) -> str:
    return " ".join(map(str, ids))


class TinyStages:
    """The readout is drawn so that it sees ends somewhere, which is all that is asked of it."""

    def __init__(self, rows: int) -> None:
        weights = tuple(0.3 if unit % 2 else -0.3 for unit in range(48))
        profile = Profile(
            fingerprint="tiny",
            default_detector="readout",
            paper=PaperRule(layer=0),
            readout=Readout(layer=0, tensor="product", weights=weights, bias=0.0),
        )
        self.probe = Probe(tiny_model(), ROLES, profile, loop=LOOP)
        self._engine = Engine(
            self.probe.model.decoder, ROLES, decode, EngineConfig(max_rows=rows, key_memory_bytes=2**24), loop=LOOP
        )

    def encode(self, requests: Sequence[GenerationRequest]) -> list[EncodedPrompt]:
        seeds = [int(request.messages[0].text) for request in requests]
        return [random_prompt(3 + seed % 4, seed=seed) for seed in seeds]

    def run(
        self, requests: Sequence[GenerationRequest], prompts: Sequence[EncodedPrompt], forecasts: Sequence[Forecast]
    ) -> list[Outcome]:
        rows = [
            Row(id=request.id, prompt=prompt, forecast=forecast, sampling=request.sampling, decoding=request.decoding)
            for request, prompt, forecast in zip(requests, prompts, forecasts, strict=True)
        ]
        outcomes: dict[str, Outcome] = {}
        while rows or not self._engine.idle:
            room = self._engine.free_rows
            self._engine.admit(rows[:room])
            rows = rows[room:]
            for delta in self._engine.step():
                if delta.outcome is not None:
                    outcomes[delta.id] = delta.outcome
        return [outcomes[request.id] for request in requests]


def tiny_track(rows: int) -> Track:
    stages = TinyStages(rows)
    daedal = Daedal(stages.probe.model.decoder, ROLES, decode, loop=LOOP, max_rows=rows)
    return Track(stages=stages, daedal=dict.fromkeys(DAEDAL_STARTS.values(), daedal), rows=rows)


def tiny_samples(count: int) -> list[Sample]:
    return [Sample(image=b"", prompt=str(seed), answers=("",), kind="random") for seed in range(count)]
