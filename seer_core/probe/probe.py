"""The probe: forecasts answer lengths from step 0, running only as much of it as the detectors in use need.

It holds a model that is already built and never learns of which family it is; it queues, batches and routes nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from seer_core.config import LoopFacts
from seer_core.errors import ProfileError
from seer_core.models.multimodal import MultimodalModel
from seer_core.probe.cost import Cost
from seer_core.probe.detectors import Detector, detector_named, foresee
from seer_core.probe.profile import Profile, Readout
from seer_core.probe.reader import Reader
from seer_core.probe.statistic import Evidence
from seer_core.probe.step_zero import run_step_zero
from seer_core.probe.window import first_look, settled, widened
from seer_core.prompt import EncodedPrompt, Prompt
from seer_core.types import Decoding, Forecast, TokenRoles


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ProbedCurve:
    """One canvas as the probe saw it, for people to look at."""

    evidence: Evidence
    forecast: Forecast


class Probe:
    """Prompts in, forecasts out; one padded batch a call."""

    def __init__(self, model: MultimodalModel, roles: TokenRoles, profile: Profile, *, loop: LoopFacts) -> None:
        """Raises `ProfileError` where the profile taps a layer or a width that the model does not have."""
        _check_fits(model, profile)
        self.model, self.roles, self.profile, self.loop = model, roles, profile, loop
        self._weights = None if profile.readout is None else torch.tensor(profile.readout.weights)

    def encode(self, prompt: Prompt) -> EncodedPrompt:
        """Vision tower, projector and embeddings."""
        return self.model.encode(prompt)

    def forecast(
        self, prompts: Sequence[EncodedPrompt], canvas_tokens: Sequence[int], decodings: Sequence[Decoding]
    ) -> list[Forecast]:
        """A forecast per request, in order.

        Canvases longer than the profile's window are looked at through it first. Requests whose detectors cost the same
        run together, each batch only as deep as it needs; those that ask for no truncation run nothing. Raises
        `InvalidRequest` for a detector that is unknown or that the profile has no numbers for.
        """
        detectors = [self._detector(decoding) for decoding in decodings]
        looked = [first_look(canvas, self.profile.window_tokens) for canvas in canvas_tokens]
        found = self._foresee(prompts, looked, detectors)
        again = [row for row, canvas in enumerate(canvas_tokens) if not settled(found[row], canvas)]
        whole = self._foresee(
            [prompts[row] for row in again], [canvas_tokens[row] for row in again], [detectors[row] for row in again]
        )
        for row, forecast in zip(again, whole, strict=True):
            found[row] = forecast
        margins = [self.profile.margin_of(detector.name) for detector in detectors]
        return [widened(*each) for each in zip(found, canvas_tokens, margins, strict=True)]

    def _foresee(
        self, prompts: Sequence[EncodedPrompt], canvas_tokens: Sequence[int], detectors: Sequence[Detector]
    ) -> list[Forecast]:
        """What each detector makes of a canvas of just that length."""
        by_cost: dict[Cost, list[int]] = {}
        for row, detector in enumerate(detectors):
            by_cost.setdefault(detector.cost(self.profile), []).append(row)
        forecasts: dict[int, Forecast] = {}
        for cost, rows in by_cost.items():
            seen = self.observe([prompts[row] for row in rows], [canvas_tokens[row] for row in rows], cost)
            for row, evidence in zip(rows, seen, strict=True):
                forecasts[row] = foresee(detectors[row], evidence, self.profile)
        return [forecasts[row] for row in range(len(prompts))]

    def profile_curve(self, prompt: EncodedPrompt, canvas_tokens: int, detector: str | None = None) -> ProbedCurve:
        """Every curve the profile has a tap for, over the whole canvas, and the forecast of a request by `detector`.

        None is the default one. Through a window the forecast is made from less than is shown.
        """
        chosen = detector_named(detector if detector is not None else self.profile.default_detector, self.profile)
        cost = chosen.cost(self.profile)
        (evidence,) = self.observe([prompt], [canvas_tokens], cost if cost.head else None)
        (forecast,) = self.forecast([prompt], [canvas_tokens], [Decoding(detector=detector)])
        return ProbedCurve(evidence=evidence, forecast=forecast)

    @torch.inference_mode()
    def observe(
        self, prompts: Sequence[EncodedPrompt], canvas_tokens: Sequence[int], cost: Cost | None = None
    ) -> list[Evidence]:
        """What step 0 shows of each canvas for `cost`; where that is None, as deep as the profile taps."""
        asked = cost if cost is not None else Cost(layers=self.profile.depth)
        if not prompts or asked.free:
            return [Evidence(canvas_tokens=canvas) for canvas in canvas_tokens]
        decoder = self.model.decoder
        reader = Reader(self.profile, self._weights, decoder, self.roles if asked.head else None)
        depth = asked.layers_of(decoder.config.layers)
        run_step_zero(
            decoder,
            self.roles.mask_id,
            prompts,
            canvas_tokens,
            depth=depth,
            loop=self.loop,
            observe=reader,
            peek=asked.peeks,
        )
        return reader.evidence(canvas_tokens)

    def _detector(self, decoding: Decoding) -> Detector:
        if not decoding.truncate:
            return detector_named("none", self.profile)
        name = decoding.detector if decoding.detector is not None else self.profile.default_detector
        return detector_named(name, self.profile)


def _check_fits(model: MultimodalModel, profile: Profile) -> None:
    layers = model.decoder.config.layers
    if profile.depth > layers:
        raise ProfileError(f"the profile taps layer {profile.depth - 1}, the model has {layers} layers", field="layer")
    if profile.readout is not None:
        _check_width(model, profile.readout)


def _check_width(model: MultimodalModel, readout: Readout) -> None:
    config = model.decoder.config
    width = config.hidden_size if readout.tensor == "mlp" else config.mlp_size
    if len(readout.weights) != width:
        raise ProfileError(
            f"the readout has {len(readout.weights)} weights, {readout.tensor} has {width} units",
            field="readout.weights",
        )
