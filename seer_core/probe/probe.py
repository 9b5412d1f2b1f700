"""The probe: forecasts answer lengths from the first layers of step 0.

It holds a model that is already built and never learns of which family it is; it queues, batches and routes nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from seer_core.config import LoopFacts
from seer_core.errors import ProfileError
from seer_core.kernels.sparsity import sparsity
from seer_core.models.multimodal import MultimodalModel
from seer_core.probe.detectors import detector_named, forecast_from, whole_canvas
from seer_core.probe.profile import Profile, Readout
from seer_core.probe.readout import readout_scores
from seer_core.probe.statistic import Evidence
from seer_core.probe.step_zero import run_step_zero
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

        Requests that ask for no truncation cost nothing. Raises `InvalidRequest` for a detector that is unknown or
        that the profile has no numbers for.
        """
        names = [self._detector(decoding) for decoding in decodings]
        forecasts = [whole_canvas(canvas) for canvas in canvas_tokens]
        asking = [row for row, name in enumerate(names) if name != "none"]
        seen = self.observe([prompts[row] for row in asking], [canvas_tokens[row] for row in asking])
        for row, evidence in zip(asking, seen, strict=True):
            forecasts[row] = forecast_from(evidence, self.profile, names[row])
        return forecasts

    def profile_curve(self, prompt: EncodedPrompt, canvas_tokens: int, detector: str | None = None) -> ProbedCurve:
        """The step-0 curve of one canvas and what `detector` (the default one if None) makes of it."""
        name = detector if detector is not None else self.profile.default_detector
        detector_named(name, self.profile)
        (evidence,) = self.observe([prompt], [canvas_tokens])
        return ProbedCurve(evidence=evidence, forecast=forecast_from(evidence, self.profile, name))

    @torch.inference_mode()
    def observe(self, prompts: Sequence[EncodedPrompt], canvas_tokens: Sequence[int]) -> list[Evidence]:
        """What step 0 shows of each canvas."""
        if not prompts:
            return []
        reader = _Reader(self.profile, self._weights)
        run_step_zero(
            self.model.decoder,
            self.roles.mask_id,
            prompts,
            canvas_tokens,
            depth=self.profile.depth,
            loop=self.loop,
            observe=reader,
        )
        return reader.evidence(canvas_tokens)

    def _detector(self, decoding: Decoding) -> str:
        if not decoding.truncate:
            return "none"
        name = decoding.detector if decoding.detector is not None else self.profile.default_detector
        detector_named(name, self.profile)
        return name


class _Reader:
    """An observer that reduces the tapped tensors to one number a position, and keeps nothing else."""

    def __init__(self, profile: Profile, weights: Tensor | None) -> None:
        self._rule, self._readout, self._weights = profile.paper, profile.readout, weights
        self._sparsity: Tensor | None = None
        self._scores: Tensor | None = None
        self._units = 0

    def __call__(self, layer: int, name: str, value: Tensor) -> None:
        if (layer, name) == (self._rule.layer, self._rule.tensor):
            self._sparsity, self._units = sparsity(value, self._rule.eps), value.shape[-1]  # [B, N]
        readout = self._readout
        if readout is not None and self._weights is not None and (layer, name) == (readout.layer, readout.tensor):
            self._scores = readout_scores(value, self._weights.to(value.device), readout.bias)  # [B, N]

    def evidence(self, canvas_tokens: Sequence[int]) -> list[Evidence]:
        assert self._sparsity is not None
        curves = self._sparsity.cpu().numpy()
        scores = None if self._scores is None else self._scores.double().cpu().numpy()
        return [
            Evidence(
                sparsity=curves[row, :length],
                units=self._units,
                scores=None if scores is None else scores[row, :length],
            )
            for row, length in enumerate(canvas_tokens)
        ]


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
