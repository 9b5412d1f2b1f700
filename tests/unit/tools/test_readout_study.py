"""The whole study, on a decoder of random weights and on planted values."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from seer_core.tools.labelled import self_label
from seer_core.tools.readout_features import FEATURES
from seer_core.tools.readout_plot import plot_readout
from seer_core.tools.readout_study import CARRIED, PARTS, Study, stacks_of, study_features, study_readout, study_stacks
from seer_core.types import GenerationRequest, Message, Sampling
from tests.unit.tools.planted import UNITS, noise, planted_magnitudes, planted_truth
from tests.unit.tools.stand_ins import TinyStages

TRUTH = planted_truth()


@pytest.fixture(scope="module")
def study() -> Study:
    stages = TinyStages()
    requests = [
        GenerationRequest(
            id="x" * (1 + row),
            messages=(Message(role="user", text=str(2 + row % 5)),),
            sampling=Sampling(max_tokens=(8, 12)[row % 2]),
        )
        for row in range(12)
    ]
    labelled = self_label(stages, requests, batch_rows=4, progress=False)
    kinds = ["short" if row % 3 else "long" for row in range(12)]
    return study_readout(stages, labelled, kinds, layers=(1, 0), tensors=("gate", "mlp"), progress=False)


def test_every_part_has_rows_of_every_layer(study: Study) -> None:
    assert (study["rows"], study["tensor"]) == (12, "gate")
    assert len(study["features"]) == 2 * 2 * len(FEATURES)
    for part in PARTS:
        assert {(row["layer"], row["features"]) for row in study[part]} == {(0, f) for f in CARRIED} | {
            (1, f) for f in CARRIED
        }
    assert {row["tested_on"] for row in study["canvases"]} == {"8", "12"}
    assert {row["tested_on"] for row in study["kinds"]} == {"short", "long"}


def test_the_study_is_drawn(study: Study, tmp_path: Path) -> None:
    plot_readout(study, tmp_path / "it.png")
    assert (tmp_path / "it.png").stat().st_size > 1000


def test_what_only_a_sign_tells_is_read_from_signed_values_alone() -> None:
    random = torch.Generator().manual_seed(0)
    values = [torch.rand(canvas, 8, generator=random) + 0.1 for canvas in TRUTH.canvas.tolist()]
    for one, end in zip(values, TRUTH.end.tolist(), strict=True):
        one[:end] *= -1.0
    cost = {row["features"]: row["cost_tokens"] for row in study_features(values, TRUTH)}
    assert cost["signed"] < 0.2
    assert min(cost[name] for name in ("magnitude", "quiet_30", "quiet_80", "log")) > 2.0


def test_a_stack_reads_what_either_layer_tells_and_costs_the_deeper() -> None:
    rows = {tuple(row["layers"]): row for row in study_stacks({0: planted_magnitudes(TRUTH), 2: noise(TRUTH)}, TRUTH)}
    assert rows[2,]["cost_tokens"] > 2.0
    assert rows[0, 2]["cost_tokens"] < 0.5
    assert (rows[0,]["layers_run"], rows[0, 2]["layers_run"], rows[0, 2]["units"]) == (1, 3, 2 * UNITS)


def test_stacks_are_each_layer_alone_with_its_neighbour_and_with_all_before() -> None:
    assert list(stacks_of([0, 1, 2])) == [(0,), (1,), (0, 1), (2,), (1, 2), (0, 1, 2)]
