from __future__ import annotations

import json

import numpy as np
from torch import Tensor

from seer_core.tools.choose import choose
from seer_core.tools.fit_paper import PaperFit, fit_paper
from seer_core.tools.fit_readout import ReadoutFit, fit_readout
from seer_core.tools.scores import Truth, score
from tests.unit.tools.planted import noise, planted_magnitudes, planted_truth

TRUTH = planted_truth()


def fits(layers: dict[int, list[Tensor]]) -> tuple[list[PaperFit], list[ReadoutFit]]:
    papers = [fit_paper(seen, TRUTH, layer=layer, tensor="product") for layer, seen in layers.items()]
    readouts = [fit_readout(seen, TRUTH, layer=layer, tensor="product") for layer, seen in layers.items()]
    return papers, readouts


def test_the_layer_with_the_signal_is_chosen() -> None:
    papers, readouts = fits({1: noise(TRUTH), 2: planted_magnitudes(TRUTH)})
    profile, _ = choose(papers, readouts, TRUTH, lost_end=0.0, fingerprint="f")
    assert profile.readout is not None
    assert profile.readout.layer == 2
    assert (profile.calibrated, profile.fingerprint) == (True, "f")


def test_of_two_equal_layers_the_shallow_one_is_cheaper() -> None:
    seen = planted_magnitudes(TRUTH)
    profile, _ = choose(*fits({1: seen, 3: seen}), TRUTH, lost_end=0.0, fingerprint="f")
    assert profile.readout is not None
    assert (profile.paper.layer, profile.readout.layer) == (1, 1)


def test_the_other_detector_never_makes_the_probe_deeper() -> None:
    papers, _ = fits({1: noise(TRUTH), 3: planted_magnitudes(TRUTH)})
    _, readouts = fits({1: planted_magnitudes(TRUTH), 3: noise(TRUTH)})
    profile, _ = choose(papers, readouts, TRUTH, lost_end=0.0, fingerprint="f")
    assert profile.default_detector == "readout"
    assert profile.depth == 2


def test_the_margin_keeps_every_end_on_the_calibration_rows() -> None:
    profile, report = choose(*fits({1: planted_magnitudes(TRUTH)}), TRUTH, lost_end=0.0, fingerprint="f")
    _, readouts = fits({1: planted_magnitudes(TRUTH)})
    assert score(readouts[0].boundaries, TRUTH, profile.margin_of("readout")).lost_end == 0.0
    json.dumps(report, allow_nan=False)


def test_where_the_scalar_shows_nothing_the_readout_is_the_default() -> None:
    # Half of the units fall, the other half rises by as much: the share of small ones says nothing.
    seen = []
    for values, end in zip(planted_magnitudes(TRUTH), TRUTH.end.tolist(), strict=True):
        mirrored = values.clone()
        mirrored[:end, 32:] *= 0.1
        seen.append(mirrored)
    profile, report = choose(*fits({1: seen}), TRUTH, lost_end=0.0, fingerprint="f")
    assert profile.default_detector == "readout"
    assert report["rows_with_end"] == int(np.sum(TRUTH.end < TRUTH.canvas))


def test_a_truth_without_ends_is_scored_without_dividing_by_zero() -> None:
    truth = Truth(canvas=np.array([8, 8]), end=np.array([8, 8]))
    assert score(np.array([-1, -1]), truth).detection_rate == 0.0
