from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from seer_core.probe.detectors import forecast_from
from seer_core.probe.probe import ProbedCurve
from seer_core.probe.profile import PaperRule, Profile, Readout
from seer_core.probe.statistic import Evidence
from seer_core.tools.plot import panels_of, plot_curve

PROFILE = Profile(
    fingerprint="f",
    paper=PaperRule(margin_tokens=1),
    readout=Readout(layer=1, tensor="product", weights=(1.0,), bias=0.0, margin_tokens=2),
)


def probed(end: int | None, *, scores: bool, detector: str = "paper", canvas: int = 32) -> ProbedCurve:
    behind = np.arange(canvas) >= (canvas if end is None else end)
    evidence = Evidence(
        canvas_tokens=canvas,
        sparsity=np.where(behind, 0.4, 0.2),
        units=512,
        scores=np.where(behind, 4.0, -4.0) if scores else None,
    )
    return ProbedCurve(evidence=evidence, forecast=forecast_from(evidence, PROFILE, detector))


def size(path: Path) -> tuple[int, int]:
    with Image.open(path) as image:
        image.load()
        return image.size


def test_a_readout_adds_a_panel_below(tmp_path: Path) -> None:
    plot_curve(probed(9, scores=False), tmp_path / "one.png")
    plot_curve(probed(9, scores=True), tmp_path / "two.png")
    (width, height), (same_width, taller) = size(tmp_path / "one.png"), size(tmp_path / "two.png")
    assert width == same_width >= 1200
    assert taller > height


@pytest.mark.parametrize(("end", "detector"), [(None, "paper"), (0, "readout"), (31, "readout")])
def test_curves_without_a_cut_and_with_one_at_the_edge_are_drawn(
    tmp_path: Path, end: int | None, detector: str
) -> None:
    plot_curve(probed(end, scores=True, detector=detector), tmp_path / "edge.png", title="a title of one's own")
    assert size(tmp_path / "edge.png")[0] >= 1200


def test_every_curve_that_was_seen_has_its_panel(tmp_path: Path) -> None:
    seen = probed(9, scores=True)
    behind = np.arange(32) >= 9
    whole = replace(
        seen.evidence,
        centred=np.where(behind, 0.0, -1.0),
        end_probability=np.where(behind, 0.9, 0.0),
        end_likeliest=behind,
    )
    labels = [label for label, _ in panels_of(whole)]
    assert len(labels) == 5
    plot_curve(ProbedCurve(evidence=whole, forecast=seen.forecast), tmp_path / "all.svg")
    text = (tmp_path / "all.svg").read_text()
    assert all(name in text for name in ("sparsity", "baseline", "readout", "end", "ended"))


def test_a_detector_that_looks_at_nothing_has_a_picture_too(tmp_path: Path) -> None:
    blank = Evidence(canvas_tokens=16)
    plot_curve(ProbedCurve(evidence=blank, forecast=forecast_from(blank, PROFILE, "fixed:8")), tmp_path / "told.png")
    assert size(tmp_path / "told.png")[0] >= 1200


def test_the_shortest_canvas_is_drawn(tmp_path: Path) -> None:
    plot_curve(probed(None, scores=True, canvas=1), tmp_path / "short.png")
    assert (tmp_path / "short.png").stat().st_size > 1000


def test_the_plateau_and_the_cut_are_named_in_the_picture(tmp_path: Path) -> None:
    plot_curve(probed(9, scores=False), tmp_path / "named.svg")
    text = (tmp_path / "named.svg").read_text()
    for name in ("boundary", "kept", "plateau", "answer", "sparsity", "canvas position"):
        assert name in text
