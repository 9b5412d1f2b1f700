from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch

from seer_core.config import LoopFacts
from seer_core.errors import ConfigError, ProfileError
from seer_core.probe.probe import Probe
from seer_core.probe.profile import DETECTOR_NAMES
from seer_core.probe.profile_file import load_profile, save_profile
from seer_core.tools.calibrate import calibrate
from seer_core.tools.labelled import layer_curves, magnitudes, self_label
from seer_core.types import Decoding, GenerationRequest, Message, Sampling
from tests.unit.probe.tiny import ROLES, random_prompt, tiny_model
from tests.unit.tools.stand_ins import TinyStages

SCRIPTS = [(3, 12), (5, 16), (20, 8), (1, 10), (8, 8), (0, 12)]


def requests(scripts: list[tuple[int, int]]) -> list[GenerationRequest]:
    return [
        GenerationRequest(
            id="r" * (index + 1),
            messages=(Message(role="user", text=f"{wanted} -"),),
            sampling=Sampling(max_tokens=canvas, stop=("x",)),
            decoding=Decoding(detector="paper"),
        )
        for index, (wanted, canvas) in enumerate(scripts)
    ]


def test_labels_come_from_untruncated_runs_and_a_cut_canvas_has_no_end_inside() -> None:
    labelled = self_label(TinyStages(), requests(SCRIPTS), batch_rows=4, progress=False)
    assert labelled.truth.canvas.tolist() == [12, 16, 8, 10, 8, 12]
    assert labelled.truth.end.tolist() == [3, 5, 8, 1, 8, 0]


def test_magnitudes_are_those_the_probe_reads_row_by_row() -> None:
    stages = TinyStages()
    labelled = self_label(stages, requests(SCRIPTS), batch_rows=4, progress=False)
    seen = magnitudes(stages, labelled, layer=1, tensors=("gate", "mlp"), batch_rows=4)
    assert [tuple(values.shape) for values in seen["gate"]] == [(canvas, 48) for _, canvas in SCRIPTS]
    assert [tuple(values.shape) for values in seen["mlp"]] == [(canvas, 32) for _, canvas in SCRIPTS]
    assert all((values >= 0).all() for values in seen["gate"])
    alone = magnitudes(stages, labelled, layer=1, tensors=("gate",), batch_rows=1)["gate"]
    for together, single in zip(seen["gate"], alone, strict=True):
        torch.testing.assert_close(together, single, atol=1e-5, rtol=1e-4)


def test_a_calibrated_profile_is_saved_loaded_and_served(tmp_path: Path) -> None:
    profile, report = calibrate(
        TinyStages(), requests(SCRIPTS), layers=(0, 1), tensors=("product", "mlp"), progress=False, batch_rows=4
    )
    assert (profile.calibrated, profile.fingerprint, profile.provenance["rows"]) == (True, "tiny", 6)
    assert isinstance(report["taps"], list)
    assert len(report["taps"]) == 2 * 2 * 3
    json.dumps(report, allow_nan=False)
    save_profile(profile, tmp_path / "profile.json")
    assert load_profile(tmp_path / "profile.json", fingerprint="tiny") == profile
    probe = Probe(tiny_model(), ROLES, profile, loop=LoopFacts(prefix_lm=True))
    named = [Decoding(), *(Decoding(detector=name) for name in DETECTOR_NAMES)]
    forecasts = probe.forecast([random_prompt(4, 0)] * len(named), [12] * len(named), named)
    assert [forecast.canvas_tokens for forecast in forecasts] == [12] * len(named)


def test_prompts_that_never_end_cannot_calibrate_anything() -> None:
    with pytest.raises(ProfileError, match="no untruncated run met an end token"):
        calibrate(TinyStages(), requests([(20, 8), (9, 9)]), layers=(0,), progress=False)


@pytest.mark.parametrize(
    ("layers", "tensors", "message"),
    [((3,), ("mlp",), "there is no layer 3: the model has layers 0 to 2"), ((0,), ("gates",), "did you mean 'gate'")],
)
def test_a_tap_that_the_model_does_not_have_is_refused_before_anything_runs(
    layers: tuple[int, ...], tensors: tuple[str, ...], message: str
) -> None:
    with pytest.raises(ConfigError, match=message):
        calibrate(TinyStages(), [], layers=layers, tensors=tensors, progress=False)


def test_the_curves_of_every_layer_are_those_of_the_rows_asked_for() -> None:
    stages = TinyStages()
    labelled = self_label(stages, requests(SCRIPTS), batch_rows=4, progress=False)
    curves = layer_curves(stages, labelled, [1, 3], tensor="mlp", eps=0.1, batch_rows=1)
    assert [[len(curve) for curve in layer] for layer in curves] == [[16, 10]] * 3
    seen = magnitudes(stages, labelled, layer=1, tensors=("mlp",), batch_rows=4)["mlp"]
    assert curves[1][0].tolist() == pytest.approx((seen[1] < 0.1).double().mean(-1).tolist(), abs=1.01 / 32)
