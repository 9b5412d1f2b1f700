"""Pipelines taken apart, whose model is a script: each prompt states its answer's length and the boundary to be seen.

The scripted model is honest: on a canvas too short for its answer it regrows, unless the prompt says `squeezes`; then
it ends one token early, as a model trained on short canvases may.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import cast

import torch

from seer_core.config import LoopFacts
from seer_core.probe.boundary import kept_tokens
from seer_core.probe.detectors import whole_canvas
from seer_core.probe.probe import Probe
from seer_core.probe.profile import PaperRule, Profile
from seer_core.prompt import EncodedPrompt
from seer_core.types import Decoding, Forecast, GenerationRequest, Outcome, Usage
from tests.unit.probe.tiny import ROLES, random_prompt, tiny_model


class ScriptedStages:
    """Prompts are `"<answer tokens> <boundary or -> [squeezes]"`."""

    def __init__(self, margin_tokens: int = 0) -> None:
        self.profile = Profile(fingerprint="scripted", paper=PaperRule(layer=1, margin_tokens=margin_tokens))
        self.roles = ROLES
        self.loop = LoopFacts(prefix_lm=True)
        self.model = tiny_model()
        self.runs: list[list[int]] = []
        self.encoded: list[tuple[EncodedPrompt, str]] = []

    @property
    def probe(self) -> Probe:
        return cast("Probe", self)

    def encode(self, requests: Sequence[GenerationRequest]) -> list[EncodedPrompt]:
        prompts = [EncodedPrompt(embeddings=torch.zeros(1, 1)) for _ in requests]
        self.encoded += [(prompt, request.messages[0].text) for prompt, request in zip(prompts, requests, strict=True)]
        return prompts

    def forecast(
        self, prompts: Sequence[EncodedPrompt], canvas_tokens: Sequence[int], decodings: Sequence[Decoding]
    ) -> list[Forecast]:
        del decodings
        return [self._forecast(prompt, canvas) for prompt, canvas in zip(prompts, canvas_tokens, strict=True)]

    def run(
        self, requests: Sequence[GenerationRequest], prompts: Sequence[EncodedPrompt], forecasts: Sequence[Forecast]
    ) -> list[Outcome]:
        assert len(requests) == len(prompts)
        self.runs.append([forecast.length_tokens for forecast in forecasts])
        return [answer(request, forecast) for request, forecast in zip(requests, forecasts, strict=True)]

    def _forecast(self, prompt: EncodedPrompt, canvas: int) -> Forecast:
        text = next(text for known, text in self.encoded if known is prompt)
        boundary = None if text.split()[1] == "-" else int(text.split()[1])
        length = kept_tokens(boundary, canvas, self.profile.paper.margin_tokens)
        return replace(
            whole_canvas(canvas), detector="paper", boundary=boundary, length_tokens=length, fallback=boundary is None
        )


class TinyStages:
    """A real probe over a tiny random decoder; runs end where the request's text says."""

    def __init__(self) -> None:
        profile = Profile(fingerprint="tiny", paper=PaperRule(layer=0))
        self.probe = Probe(tiny_model(), ROLES, profile, loop=LoopFacts(prefix_lm=True))

    def encode(self, requests: Sequence[GenerationRequest]) -> list[EncodedPrompt]:
        return [random_prompt(3 + len(request.id), seed=len(request.id)) for request in requests]

    def run(
        self, requests: Sequence[GenerationRequest], prompts: Sequence[EncodedPrompt], forecasts: Sequence[Forecast]
    ) -> list[Outcome]:
        assert not any(request.decoding.truncate or request.sampling.stop for request in requests)
        assert all(f.length_tokens == r.sampling.max_tokens for f, r in zip(forecasts, requests, strict=True))
        return [answer(request, forecast) for request, forecast in zip(requests, forecasts, strict=True)]


def answer(request: GenerationRequest, forecast: Forecast) -> Outcome:
    text = request.messages[0].text
    wanted, canvas = int(text.split()[0]), request.sampling.max_tokens
    short = forecast.length_tokens <= wanted < canvas
    length = min(wanted, canvas)
    if short and "squeezes" in text:
        length = forecast.length_tokens - 1
    return Outcome(
        text="x" * length,
        tokens=(1,) * length,
        finish_reason="stop" if wanted < canvas else "length",
        forecast_tokens=forecast.length_tokens,
        canvas_tokens=canvas,
        kept_tokens=canvas if short else forecast.length_tokens,
        steps=canvas if short else forecast.length_tokens,
        regrown=int(short and "squeezes" not in text),
        usage=Usage(prompt_tokens=1, completion_tokens=length),
        path="static",
        detector=forecast.detector,
    )
