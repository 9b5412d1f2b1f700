"""How far a readout can be carried: which features, how many layers, how many prompts, which margin, how it transfers.

Every number is of rows that nothing in it was fitted on. One ridge for all, so that what differs is what is asked
about. Knows neither where the prompts come from nor what is done with the findings.

Legend: R rows, N_r canvas of a row, d units.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from itertools import product
from typing import Any

import torch
from torch import Tensor
from tqdm import tqdm

from seer_core.tools.fit_readout import boundaries_of, held_out_scores
from seer_core.tools.labelled import Labelled, activations
from seer_core.tools.readout_features import FEATURES, magnitudes_of
from seer_core.tools.readout_prompts import study_margins, study_prompts
from seer_core.tools.readout_transfer import study_transfer
from seer_core.tools.scores import Truth, folds_of, score
from seer_core.tools.stages import Stages

Row = dict[str, Any]
Study = dict[str, Any]
ByLayer = Mapping[int, Sequence[Tensor]]

RIDGE = 1e-3
FOLDS = 2

CARRIED = ("magnitude", "signed")
"""The features that prompts, margins and transfer are studied with, at so many of the deepest layers:"""

DEEPEST = 3

PARTS = ("prompts", "margins", "canvases", "kinds")


def study_readout(
    stages: Stages,
    labelled: Labelled,
    kinds: Sequence[str],
    *,
    layers: Sequence[int],
    tensors: Sequence[str],
    batch_rows: int = 16,
    progress: bool = True,
) -> Study:
    """All parts; where features are not compared the first of `tensors` is read. `kinds` [R]: what each row asks."""
    truth, first = labelled.truth, tensors[0]
    features: list[Row] = []
    values: dict[int, Sequence[Tensor]] = {}
    for layer in tqdm(sorted(layers), desc="features", unit="layer", disable=not progress):
        seen = activations(stages, labelled, layer=layer, tensors=tensors, batch_rows=batch_rows)
        for tensor in tensors:
            features += [{"layer": layer, "tensor": tensor, **row} for row in study_features(seen[tensor], truth)]
        values[layer] = seen[first]
    study: Study = {
        "rows": len(truth.end),
        "rows_with_end": int((truth.end < truth.canvas).sum()),
        "tensor": first,
        "features": features,
        "stacking": study_stacks({layer: magnitudes_of(own) for layer, own in values.items()}, truth),
        **{part: [] for part in PARTS},
    }
    cells = list(product(sorted(values)[-DEEPEST:], CARRIED))
    for layer, name in tqdm(cells, desc="prompts, margins, transfer", unit="readout", disable=not progress):
        for part, rows in _carry(FEATURES[name](values[layer]), truth, kinds).items():
            study[part] += [{"layer": layer, "features": name, **row} for row in rows]
    return study


def _carry(features: Sequence[Tensor], truth: Truth, kinds: Sequence[str]) -> dict[str, list[Row]]:
    canvases = [str(canvas) for canvas in truth.canvas.tolist()]
    return {
        "prompts": study_prompts(features, truth, ridge=RIDGE),
        "margins": study_margins(features, truth, ridge=RIDGE),
        "canvases": study_transfer(features, truth, canvases, ridge=RIDGE),
        "kinds": study_transfer(features, truth, kinds, ridge=RIDGE),
    }


def study_features(values: Sequence[Tensor], truth: Truth) -> list[Row]:
    """A row per kind of features of one tensor's signed values [N_r, d]."""
    return [{"features": name, **_held_out(make(values), truth)} for name, make in FEATURES.items()]


def study_stacks(magnitudes: ByLayer, truth: Truth) -> list[Row]:
    """A row per set of layers that are read together; its price is that of the deepest."""
    rows = []
    for stack in stacks_of(sorted(magnitudes)):
        together = [torch.cat(parts, dim=1) for parts in zip(*(magnitudes[layer] for layer in stack), strict=True)]
        rows.append({"layers": list(stack), "layers_run": stack[-1] + 1, **_held_out(together, truth)})
    return rows


def stacks_of(layers: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """Each layer alone, with the one before it, and with all before it."""
    for index, layer in enumerate(layers):
        yield (layer,)
        if index > 0:
            yield (layers[index - 1], layer)
        if index > 1:
            yield tuple(layers[: index + 1])


def _held_out(features: Sequence[Tensor], truth: Truth) -> Row:
    folds = folds_of(len(features), FOLDS)
    found = boundaries_of(held_out_scores(features, truth, folds, ridge=RIDGE))
    return {"units": features[0].shape[1], **asdict(score(found, truth))}
