"""Fits a checkpoint's profile without labels from people and without training: the model's own untruncated runs tell
where its answers end, and step 0 of the same canvases shows what was to be seen of it.

Knows neither where the prompts come from nor where the profile is kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor
from tqdm import tqdm

from seer_core.errors import ProfileError
from seer_core.models.decoder import Observer
from seer_core.probe.detectors import whole_canvas
from seer_core.probe.profile import Profile
from seer_core.probe.step_zero import run_step_zero
from seer_core.prompt import EncodedPrompt
from seer_core.tools.choose import Report, choose
from seer_core.tools.fit_paper import PaperFit, fit_paper
from seer_core.tools.fit_readout import ReadoutFit, fit_readout
from seer_core.tools.scores import Truth
from seer_core.tools.stages import Stages, batches, end_slot
from seer_core.types import GenerationRequest


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Labelled:
    """Prompts and, by the model's own untruncated answers, where each ends."""

    prompts: Sequence[EncodedPrompt]
    truth: Truth


def calibrate(
    stages: Stages,
    requests: Sequence[GenerationRequest],
    *,
    layers: Sequence[int],
    tensors: Sequence[str] = ("product",),
    lost_end: float = 0.005,
    batch_rows: int = 16,
    progress: bool = True,
) -> tuple[Profile, Report]:
    """A profile for the checkpoint behind `stages`, and how it came about.

    Requests should cover the canvases the service will see: `sampling.max_tokens` is each one's canvas. Taps are
    sought among `layers` x `tensors`; each detector's margin is the smallest with which at most a share `lost_end` of
    the rows loses its end token's slot. Raises `ProfileError` where no untruncated run ends.
    """
    labelled = self_label(stages, requests, batch_rows=batch_rows, progress=progress)
    if not (labelled.truth.end < labelled.truth.canvas).any():
        raise ProfileError("no untruncated run met an end token: nothing to calibrate on; use longer canvases")
    papers: list[PaperFit] = []
    readouts: list[ReadoutFit] = []
    for layer in tqdm(sorted(layers), desc="fitting layers", unit="layer", disable=not progress):
        seen = magnitudes(stages, labelled, layer=layer, tensors=tensors, batch_rows=batch_rows)
        papers += [fit_paper(seen[name], labelled.truth, layer=layer, tensor=name) for name in tensors]
        readouts += [fit_readout(seen[name], labelled.truth, layer=layer, tensor=name) for name in tensors]
    return choose(papers, readouts, labelled.truth, lost_end=lost_end, fingerprint=stages.probe.profile.fingerprint)


def self_label(
    stages: Stages, requests: Sequence[GenerationRequest], *, batch_rows: int, progress: bool = True
) -> Labelled:
    """Run every request on its whole canvas; a canvas cut without an end token has its end at N."""
    prompts: list[EncodedPrompt] = []
    ends: list[int] = []
    untruncated = [_untruncated(request) for request in requests]
    with tqdm(total=len(requests), desc="untruncated runs", unit="row", disable=not progress) as bar:
        for batch in batches(untruncated, batch_rows):
            encoded = stages.encode(batch)
            canvases = [request.sampling.max_tokens for request in batch]
            outcomes = stages.run(batch, encoded, [whole_canvas(canvas) for canvas in canvases])
            slots = [end_slot(outcome) for outcome in outcomes]
            ends += [canvas if slot is None else slot for slot, canvas in zip(slots, canvases, strict=True)]
            prompts += encoded
            bar.update(len(batch))
    canvas = np.array([request.sampling.max_tokens for request in requests])
    return Labelled(prompts=prompts, truth=Truth(canvas=canvas, end=np.array(ends)))


@torch.no_grad()
def magnitudes(
    stages: Stages, labelled: Labelled, *, layer: int, tensors: Sequence[str], batch_rows: int
) -> dict[str, list[Tensor]]:
    """|a| of step 0 at one layer, float32 [N_r, d] per row, by tensor. One layer at a time bounds the memory."""
    seen: dict[str, list[Tensor]] = {name: [] for name in tensors}
    probe = stages.probe
    canvas: list[int] = labelled.truth.canvas.tolist()
    for rows in batches(range(len(canvas)), batch_rows):
        run_step_zero(
            probe.model.decoder,
            probe.roles.mask_id,
            [labelled.prompts[row] for row in rows],
            [canvas[row] for row in rows],
            depth=layer + 1,
            loop=probe.loop,
            observe=_collector(seen, layer, [canvas[row] for row in rows]),
        )
    return seen


def _untruncated(request: GenerationRequest) -> GenerationRequest:
    """A stop string would end an answer where the model does not."""
    sampling = replace(request.sampling, stop=())
    return replace(request, sampling=sampling, decoding=replace(request.decoding, truncate=False, detector=None))


def _collector(seen: dict[str, list[Tensor]], layer: int, canvas: Sequence[int]) -> Observer:
    def observe(at: int, name: str, value: Tensor) -> None:
        if at == layer and name in seen:
            seen[name] += [values[:length].float().abs().cpu() for values, length in zip(value, canvas, strict=True)]

    return observe
