"""Fits a checkpoint's profile without labels from people and without training: the model's own untruncated runs tell
where its answers end, and step 0 of the same canvases shows what was to be seen of it.

Knows neither where the prompts come from nor where the profile is kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from difflib import get_close_matches

from torch import Tensor
from tqdm import tqdm

from seer_core.errors import ConfigError, ProfileError
from seer_core.probe.profile import Profile
from seer_core.probe.rules import ACTIVATION_DETECTORS, TENSORS
from seer_core.tools.calibration_curves import curves_of
from seer_core.tools.calibration_report import Report, report_of
from seer_core.tools.choose import Fit, Market, TapFit, best_taps, choose, strongest
from seer_core.tools.fit_calibrated import fit_calibrated
from seer_core.tools.fit_ended import Endings, fit_dual, fit_first_end, fit_smartcrop
from seer_core.tools.fit_paper import LOST_END, fit_paper
from seer_core.tools.fit_readout import fit_readout
from seer_core.tools.fit_window import as_rows, fit_window
from seer_core.tools.labelled import Labelled, magnitudes, observe_endings, self_label
from seer_core.tools.price import Price, head_layers
from seer_core.tools.scores import Truth
from seer_core.tools.stages import Stages
from seer_core.types import GenerationRequest


def calibrate(
    stages: Stages,
    requests: Sequence[GenerationRequest],
    *,
    layers: Sequence[int],
    tensors: Sequence[str] = TENSORS,
    lost_end: float = LOST_END,
    batch_rows: int = 16,
    progress: bool = True,
) -> tuple[Profile, Report]:
    """A profile for the checkpoint behind `stages`, and how it came about.

    Requests should cover the canvases the service will see: `sampling.max_tokens` is each one's canvas. Taps are
    sought among `layers` x `tensors`; each detector's margin is the smallest with which at most a share `lost_end` of
    the rows loses its end token's slot, which bounds over-truncation. Raises `ProfileError` where no untruncated run
    ends, and `ConfigError` for taps that the model does not have.
    """
    check_taps(stages, layers, tensors)
    labelled = self_label(stages, requests, batch_rows=batch_rows, progress=progress)
    truth = labelled.truth
    if not (truth.end < truth.canvas).any():
        raise ProfileError("no untruncated run met an end token: nothing to calibrate on; use longer canvases")
    market = Market(truth=truth, price=price_of(stages, labelled), lost_end=lost_end)
    taps: list[TapFit] = []
    for layer in tqdm(sorted(layers), desc="fitting layers", unit="layer", disable=not progress):
        seen = magnitudes(stages, labelled, layer=layer, tensors=tensors, batch_rows=batch_rows)
        for name in tensors:
            taps += _fit_tap(seen[name], truth, layer, name, lost_end)
    best = _best_fits(taps, observe_endings(stages, labelled, batch_rows=batch_rows), market)
    profile = choose(best, market, fingerprint=stages.probe.profile.fingerprint)
    window, tried = fit_window(stages, labelled, profile, lost_end=lost_end, batch_rows=batch_rows, progress=progress)
    profile = replace(profile, window_tokens=window)
    report = {**report_of(taps, best, market, profile.default_detector), "windows": as_rows(tried, window)}
    return profile, {**report, **curves_of(stages, labelled, profile, batch_rows=batch_rows)}


def check_taps(stages: Stages, layers: Sequence[int], tensors: Sequence[str]) -> None:
    """Raises `ConfigError` for taps that the model does not have."""
    depth = stages.probe.model.decoder.config.layers
    for layer in layers:
        if not 0 <= layer < depth:
            raise ConfigError(f"there is no layer {layer}: the model has layers 0 to {depth - 1}", field="layers")
    for name in tensors:
        if name not in TENSORS:
            near = get_close_matches(name, TENSORS, n=1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            raise ConfigError(f"unknown tensor {name!r}, known are {', '.join(TENSORS)}{hint}", field="tensors")


def _best_fits(taps: Sequence[TapFit], endings: Endings, market: Market) -> dict[str, Fit]:
    truth, lost_end = market.truth, market.lost_end
    best: dict[str, Fit] = {**best_taps(taps, market)}
    best["first_end"] = fit_first_end(endings, truth)
    best["smartcrop"] = fit_smartcrop(endings, truth, lost_end=lost_end)
    activation = strongest(best, market, ACTIVATION_DETECTORS)
    best["dual"] = fit_dual(endings, activation, best[activation].boundaries, truth, lost_end=lost_end)
    return best


def _fit_tap(seen: Sequence[Tensor], truth: Truth, layer: int, tensor: str, lost_end: float) -> list[TapFit]:
    return [
        fit_paper(seen, truth, layer=layer, tensor=tensor, lost_end=lost_end),
        fit_calibrated(seen, truth, layer=layer, tensor=tensor, lost_end=lost_end),
        fit_readout(seen, truth, layer=layer, tensor=tensor, lost_end=lost_end),
    ]


def price_of(stages: Stages, labelled: Labelled) -> Price:
    """What detectors cost on these rows with this decoder."""
    config = stages.probe.model.decoder.config
    return Price(
        layers=config.layers,
        head_layers=head_layers(config),
        prompt_tokens=sum(prompt.length_tokens for prompt in labelled.prompts) / len(labelled.prompts),
        canvas_tokens=float(labelled.truth.canvas.mean()),
    )
