"""A small calibration's report: what stands in it, and what is drawn from it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from seer_core.errors import ConfigError
from seer_core.tools import calibration_file
from seer_core.tools.calibrate import calibrate
from seer_core.tools.calibration_file import DETECTORS, write_report
from seer_core.tools.calibration_report import false_cuts
from seer_core.tools.scores import NO_BOUNDARY, Truth
from tests.unit.tools.stand_ins import TinyStages
from tests.unit.tools.test_calibrate import SCRIPTS, requests


@pytest.fixture(scope="module")
def report() -> dict[str, Any]:
    _, found = calibrate(TinyStages(), requests(SCRIPTS), layers=(1,), tensors=("mlp",), progress=False, batch_rows=4)
    loaded: dict[str, Any] = json.loads(json.dumps(found, allow_nan=False))
    return loaded


def test_the_report_says_of_every_detector_what_it_costs_and_what_it_risks(report: dict[str, Any]) -> None:
    for name in DETECTORS:
        found = report[name]
        assert found["over_truncation_upper"] > found["with_margin"]["over_truncation"]
        assert found["margins"][0]["margin_tokens"] == 0
        assert {"layers_run", "head", "work", "work_probe", "saved_of_oracle"} <= found.keys()
    assert [report[name]["head"] for name in DETECTORS] == [False] * 3 + [True] * 3
    assert report["work"]["oracle"] < report["work"]["whole_canvas"]


def test_a_cut_on_a_canvas_without_an_end_is_a_false_one() -> None:
    truth = Truth(canvas=np.array([8, 8, 8, 8]), end=np.array([3, 8, 8, 8]))
    found = np.array([3, 4, NO_BOUNDARY, 7])
    assert false_cuts(found, truth, 0) == pytest.approx(1 / 3)
    assert false_cuts(found, truth, 3) == 0.0
    assert false_cuts(found[:1], truth.of(np.array([0])), 0) is None


def test_a_margin_more_never_cuts_more_and_never_saves_more(report: dict[str, Any]) -> None:
    for name in DETECTORS:
        trade = report[name]["trade"]
        for key in ("over_truncation", "positions_saved"):
            values = [point[key] for point in trade]
            assert values == sorted(values, reverse=True)


def test_the_heat_map_has_a_row_a_layer_around_the_end(report: dict[str, Any]) -> None:
    heat = report["heat"]
    assert len(heat["sparsity"]) == 3
    assert {len(row) for row in heat["sparsity"]} == {len(heat["offsets"])}
    assert heat["sparsity"][0][heat["offsets"].index(-9)] is None  # no answer here is as long as nine


def test_the_dials_hold_the_chosen_rule(report: dict[str, Any]) -> None:
    dials = report["dials"]
    tau, gamma = dials["chosen"]
    t, g = dials["taus"].index(tau), dials["gammas"].index(gamma)
    assert dials["over_truncation"][t][g] == report["paper"]["over_truncation"]


def test_text_numbers_and_pictures_lie_beside_the_profile(report: dict[str, Any], tmp_path: Path) -> None:
    text = write_report(report, tmp_path / "mine.json")
    assert json.loads((tmp_path / "mine.report.json").read_text()) == report
    assert report["verdict"] in text.read_text()
    for name in ("heat", "safety", "dials"):
        assert f"(mine.{name}.png)" in text.read_text()
        with Image.open(tmp_path / f"mine.{name}.png") as image:
            assert image.size[0] >= 1200


def test_without_matplotlib_the_numbers_are_written_all_the_same(
    report: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(*_: object) -> None:
        raise ConfigError("pictures need matplotlib")

    monkeypatch.setattr(calibration_file, "plot_heat", missing)
    text = write_report(report, tmp_path / "mine.json").read_text()
    assert ".png" not in text
    assert "| readout | 2 |" in text
