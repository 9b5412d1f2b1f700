"""Fits made by hand: twenty canvases of 32 that end at 10, and boundaries that miss by a known number of tokens."""

from __future__ import annotations

import json

import numpy as np

from seer_core.probe.profile import PaperRule, Readout
from seer_core.tools.choose import choose
from seer_core.tools.fit_paper import PaperFit
from seer_core.tools.fit_readout import ReadoutFit
from seer_core.tools.scores import NO_BOUNDARY, Rows, Truth, score

ROWS = 20
TRUTH = Truth(canvas=np.full(ROWS, 32), end=np.full(ROWS, 10))
EXACT, SILENT = np.full(ROWS, 10), np.full(ROWS, NO_BOUNDARY)


def paper(layer: int, found: Rows) -> PaperFit:
    return PaperFit(rule=PaperRule(layer=layer), boundaries=found, score=score(found, TRUTH))


def readout(layer: int, found: Rows) -> ReadoutFit:
    weights = Readout(layer=layer, tensor="gate", weights=(1.0,), bias=0.0)
    return ReadoutFit(readout=weights, ridge=1e-3, boundaries=found, score=score(found, TRUTH))


def test_the_layer_with_the_smaller_error_is_read() -> None:
    profile, _ = choose(
        [paper(1, SILENT)], [readout(1, EXACT + 3), readout(2, EXACT)], TRUTH, lost_end=0.0, fingerprint="f"
    )
    assert profile.readout is not None
    assert profile.readout.layer == 2
    assert (profile.default_detector, profile.calibrated, profile.fingerprint) == ("readout", True, "f")


def test_of_two_equal_layers_the_shallow_one_is_read() -> None:
    profile, _ = choose(
        [paper(3, EXACT), paper(1, EXACT)],
        [readout(3, EXACT), readout(1, EXACT)],
        TRUTH,
        lost_end=0.0,
        fingerprint="f",
    )
    assert profile.readout is not None
    assert (profile.paper.layer, profile.readout.layer) == (1, 1)


def test_a_deeper_layer_must_be_worth_its_price() -> None:
    nearly = EXACT.copy()
    nearly[0] += 1  # 0.05 tokens of error on average, less than a layer costs
    profile, _ = choose([paper(1, nearly), paper(2, EXACT)], [readout(1, SILENT)], TRUTH, lost_end=0.0, fingerprint="f")
    assert profile.paper.layer == 1


def test_the_detector_that_keeps_fewer_tokens_is_the_default_and_the_paper_wins_ties() -> None:
    late, early = EXACT + 2, EXACT - 2  # the early one needs a margin of two and then keeps no more than the exact one
    for found, other, expected in ((EXACT, late, "paper"), (late, EXACT, "readout"), (EXACT, early, "paper")):
        profile, _ = choose([paper(1, found)], [readout(1, other)], TRUTH, lost_end=0.0, fingerprint="f")
        assert profile.default_detector == expected


def test_the_other_detector_never_makes_the_probe_deeper() -> None:
    profile, _ = choose(
        [paper(1, SILENT), paper(3, EXACT + 1)],
        [readout(1, EXACT), readout(4, EXACT)],
        TRUTH,
        lost_end=0.0,
        fingerprint="f",
    )
    assert profile.default_detector == "readout"
    assert (profile.paper.layer, profile.depth) == (1, 2)


def test_a_rule_that_cuts_answers_yields_to_one_that_does_not() -> None:
    cutting = EXACT - 2
    profile, _ = choose(
        [paper(1, cutting), paper(2, EXACT + 4)], [readout(2, SILENT)], TRUTH, lost_end=0.0, fingerprint="f"
    )
    assert profile.paper.layer == 2


def test_each_detector_gets_the_margin_its_own_errors_need() -> None:
    one_early = EXACT.copy()
    one_early[3] -= 5
    for allowed, margin in ((0.0, 5), (0.05, 0)):
        profile, _ = choose([paper(1, EXACT)], [readout(1, one_early)], TRUTH, lost_end=allowed, fingerprint="f")
        assert (profile.margin_of("paper"), profile.margin_of("readout")) == (0, margin)


def test_the_report_says_what_each_margin_costs_and_fits_in_json() -> None:
    _, report = choose([paper(1, SILENT)], [readout(1, EXACT - 1)], TRUTH, lost_end=0.0, fingerprint="f")
    text = json.loads(json.dumps(report, allow_nan=False))
    assert (text["rows"], text["rows_with_end"], text["default_detector"]) == (20, 20, "readout")
    assert [row["kept_tokens"] for row in text["readout"]["margins"][:3]] == [10.0, 11.0, 12.0]
    assert text["readout"]["margin_tokens"] == 1
    assert text["readout"]["over_truncation_upper"] > 0.0
    assert [(tap["detector"], tap["layer"]) for tap in text["taps"]] == [("paper", 1), ("readout", 1)]
