"""Prompts with self-made labels, and what step 0 shows of them: all that calibration knows of a checkpoint.

Legend: R rows, N_r canvas of a row, d units.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor
from tqdm import tqdm

from seer_core.kernels.sparsity import sparsity
from seer_core.models.decoder import Observer
from seer_core.probe.cost import WHOLE_STEP
from seer_core.probe.detectors import whole_canvas
from seer_core.probe.statistic import Curve, Evidence
from seer_core.probe.step_zero import run_step_zero
from seer_core.prompt import EncodedPrompt
from seer_core.tools.fit_ended import Endings
from seer_core.tools.scores import Truth
from seer_core.tools.stages import Stages, batches, end_slot
from seer_core.types import GenerationRequest


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Labelled:
    """Prompts and, by the model's own untruncated answers, where each ends."""

    prompts: Sequence[EncodedPrompt]
    truth: Truth


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


def magnitudes(
    stages: Stages, labelled: Labelled, *, layer: int, tensors: Sequence[str], batch_rows: int
) -> dict[str, list[Tensor]]:
    """|a| of step 0 at one layer, float32 [N_r, d] per row, by tensor. One layer at a time bounds the memory."""
    return _values(stages, labelled, layer, tensors, batch_rows, torch.abs)


def activations(
    stages: Stages, labelled: Labelled, *, layer: int, tensors: Sequence[str], batch_rows: int
) -> dict[str, list[Tensor]]:
    """The same with their signs, which no detector reads."""
    return _values(stages, labelled, layer, tensors, batch_rows, torch.clone)


def _values(
    stages: Stages,
    labelled: Labelled,
    layer: int,
    tensors: Sequence[str],
    batch_rows: int,
    part: Callable[[Tensor], Tensor],
) -> dict[str, list[Tensor]]:
    seen: dict[str, list[Tensor]] = {name: [] for name in tensors}

    def keep(at: int, name: str, values: Tensor) -> None:
        if at == layer and name in seen:
            seen[name].append(part(values.float()).cpu())

    _run(stages, labelled, range(len(labelled.prompts)), layer + 1, batch_rows, keep)
    return seen


def layer_curves(
    stages: Stages, labelled: Labelled, rows: Sequence[int], *, tensor: str, eps: float, batch_rows: int
) -> list[list[Curve]]:
    """Sparsity of `tensor` at every layer, for the chosen rows: [layer][row] of [N_r]."""
    layers = stages.probe.model.decoder.config.layers
    seen: list[list[Curve]] = [[] for _ in range(layers)]

    def keep(at: int, name: str, values: Tensor) -> None:
        if name == tensor:
            seen[at].append(np.asarray(sparsity(values, eps).cpu().numpy(), np.float64))

    _run(stages, labelled, rows, layers, batch_rows, keep)
    return seen


def observe_endings(stages: Stages, labelled: Labelled, *, batch_rows: int) -> Endings:
    """What the whole model says of the end at step 0 of every row."""
    canvas: list[int] = labelled.truth.canvas.tolist()
    seen: list[Evidence] = []
    for rows in batches(range(len(canvas)), batch_rows):
        prompts = [labelled.prompts[row] for row in rows]
        seen += stages.probe.observe(prompts, [canvas[row] for row in rows], WHOLE_STEP)
    return Endings(
        probability=[one.end_probability for one in seen if one.end_probability is not None],
        likeliest=[one.end_likeliest for one in seen if one.end_likeliest is not None],
    )


def _untruncated(request: GenerationRequest) -> GenerationRequest:
    """A stop string would end an answer where the model does not."""
    sampling = replace(request.sampling, stop=())
    return replace(request, sampling=sampling, decoding=replace(request.decoding, truncate=False, detector=None))


@torch.no_grad()
def _run(stages: Stages, labelled: Labelled, rows: Sequence[int], depth: int, batch_rows: int, keep: Observer) -> None:
    """Show `keep` every value of step 0, row by row and without padding."""
    probe = stages.probe
    for batch in batches(rows, batch_rows):
        canvas = [int(labelled.truth.canvas[row]) for row in batch]
        run_step_zero(
            probe.model.decoder,
            probe.roles.mask_id,
            [labelled.prompts[row] for row in batch],
            canvas,
            depth=depth,
            loop=probe.loop,
            observe=_row_by_row(keep, canvas),
        )


def _row_by_row(keep: Observer, canvas: Sequence[int]) -> Observer:
    def observe(layer: int, name: str, value: Tensor) -> None:
        for values, length in zip(value, canvas, strict=True):
            keep(layer, name, values[:length])

    return observe
