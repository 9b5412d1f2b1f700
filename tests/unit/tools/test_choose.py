"""Fits made by hand: twenty canvases of 32 that end at 10, and boundaries that miss by a known number of tokens."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from seer_core.probe.rules import CalibratedRule, DualRule, FirstEndRule, PaperRule, Readout, SmartCropRule
from seer_core.tools.choose import Fit, Market, best_taps, choose, strongest, verdict
from seer_core.tools.fit_calibrated import CalibratedFit
from seer_core.tools.fit_ended import EndFit, EndRule
from seer_core.tools.fit_paper import PaperFit
from seer_core.tools.fit_readout import ReadoutFit
from seer_core.tools.price import Price
from seer_core.tools.scores import NO_BOUNDARY, Rows, Truth, score

ROWS = 20
TRUTH = Truth(canvas=np.full(ROWS, 32), end=np.full(ROWS, 10))
EXACT, SILENT = np.full(ROWS, 10), np.full(ROWS, NO_BOUNDARY)
PRICE = Price(layers=8, head_layers=1.0, prompt_tokens=8.0, canvas_tokens=32.0)  # a layer costs 5, the head 4


def market(lost_end: float = 0.0) -> Market:
    return Market(truth=TRUTH, price=PRICE, lost_end=lost_end)


def paper(layer: int, found: Rows) -> PaperFit:
    return PaperFit(rule=PaperRule(layer=layer), boundaries=found, score=score(found, TRUTH))


def calibrated(layer: int, found: Rows) -> CalibratedFit:
    rule = CalibratedRule(layer=layer, tensor="mlp", eps=0.1, tau_jump=0.1, gamma=1.0, baseline=(0.2,))
    return CalibratedFit(rule=rule, boundaries=found, score=score(found, TRUTH))


def readout(layer: int, found: Rows) -> ReadoutFit:
    weights = Readout(layer=layer, tensor="gate", weights=(1.0,), bias=0.0)
    return ReadoutFit(readout=weights, ridge=1e-3, boundaries=found, score=score(found, TRUTH))


def ended(rule: EndRule, found: Rows) -> EndFit:
    names: dict[type, str] = {FirstEndRule: "first_end", SmartCropRule: "smartcrop", DualRule: "dual"}
    return EndFit(detector=names[type(rule)], rule=rule, boundaries=found, score=score(found, TRUTH))


def every(paper_found: Rows, readout_found: Rows, smartcrop_found: Rows) -> dict[str, Fit]:
    return {
        "paper": paper(1, paper_found),
        "readout": readout(1, readout_found),
        "smartcrop": ended(SmartCropRule(), smartcrop_found),
    }


def test_the_layer_with_the_smaller_error_is_read() -> None:
    best = best_taps([paper(1, SILENT), readout(1, EXACT + 3), readout(2, EXACT)], market())
    assert best["readout"].layer == 2


def test_of_two_equal_layers_the_shallow_one_is_read() -> None:
    best = best_taps([paper(3, EXACT), paper(1, EXACT), calibrated(2, EXACT), calibrated(1, EXACT)], market())
    assert (best["paper"].layer, best["calibrated"].layer) == (1, 1)


def test_a_deeper_layer_must_be_worth_its_price() -> None:
    nearly = EXACT.copy()
    nearly[0] += 2  # 48 positions more on one row of twenty: 2.4, less than the 5 of a layer
    long = replace(market(), price=replace(PRICE, prompt_tokens=128.0))  # a layer costs 20
    assert best_taps([paper(1, nearly), paper(2, EXACT)], long)["paper"].layer == 1
    assert best_taps([paper(1, EXACT + 1), paper(2, EXACT)], market())["paper"].layer == 2


def test_of_taps_that_cost_alike_the_one_that_errs_less_is_read() -> None:
    nearly = EXACT.copy()
    nearly[0] += 2
    assert best_taps([paper(1, nearly), paper(2, EXACT)], market())["paper"].layer == 2


def test_a_rule_that_cuts_answers_yields_to_one_that_does_not() -> None:
    assert best_taps([paper(1, EXACT - 2), paper(2, EXACT + 4)], market())["paper"].layer == 2


def test_who_costs_least_under_the_bound_is_the_default_and_the_paper_wins_ties() -> None:
    late, early = EXACT + 2, EXACT - 2  # the early one needs a margin of two and then keeps no more than the exact one
    for found, other, expected in ((EXACT, late, "paper"), (late, EXACT, "readout"), (EXACT, early, "paper")):
        assert choose(every(found, other, SILENT), market(), fingerprint="f").default_detector == expected


def test_a_whole_step_is_paid_for_only_where_it_finds_more() -> None:
    # The head and six layers more cost 34; three tokens more on every row cost 14 * 14 - 11 * 11 = 75.
    for late, expected in ((1, "paper"), (3, "smartcrop")):
        chosen = choose(every(EXACT + late, SILENT, EXACT), market(), fingerprint="f")
        assert chosen.default_detector == expected


def test_each_detector_gets_the_margin_its_own_errors_need() -> None:
    one_early = EXACT.copy()
    one_early[3] -= 5
    for allowed, margin in ((0.0, 5), (0.05, 0)):
        profile = choose(every(EXACT, one_early, one_early), market(allowed), fingerprint="f")
        assert [profile.margin_of(name) for name in ("paper", "readout", "smartcrop")] == [0, margin, margin]


def test_every_fit_has_its_section_in_the_profile() -> None:
    best = {
        **every(EXACT, EXACT, EXACT),
        "calibrated": calibrated(2, EXACT - 1),
        "first_end": ended(FirstEndRule(), EXACT - 2),
        "dual": ended(DualRule(activation="calibrated", agree_tokens=1), EXACT - 3),
    }
    profile = choose(best, market(), fingerprint="f")
    assert (profile.calibrated, profile.fingerprint, profile.provenance["rows"]) == (True, "f", ROWS)
    assert [profile.margin_of(name) for name in ("calibrated", "first_end", "dual")] == [1, 2, 3]
    assert (profile.dual.activation, profile.dual.agree_tokens) == ("calibrated", 1)
    assert profile.calibrated_rule is not None
    assert profile.calibrated_rule.baseline == (0.2,)


def test_without_a_signal_in_the_activations_the_verdict_recommends_another() -> None:
    best = every(SILENT, SILENT, EXACT)
    profile = choose(best, market(), fingerprint="f")
    assert profile.default_detector == "smartcrop"
    said = verdict(best, market(), profile.default_detector)
    assert said.startswith("No usable signal in the early activations")
    assert "Recommended: smartcrop; smartcrop saves 95% of what an oracle would" in said


def test_where_nobody_sees_an_end_nothing_is_recommended() -> None:
    best = every(SILENT, SILENT, SILENT)
    profile = choose(best, market(), fingerprint="f")
    assert profile.default_detector == "none"
    assert verdict(best, market(), "none").endswith("Recommended: none.")


def test_a_signal_is_said_to_be_there() -> None:
    best = every(EXACT, SILENT, EXACT)
    assert strongest(best, market()) == "paper"
    assert verdict(best, market(), "paper").startswith("The early activations show the end. Recommended: paper")


@pytest.mark.parametrize(("found", "saved"), [(EXACT, 1 - 10 / 903), (SILENT, -10 / 903)])
def test_what_is_saved_is_counted_against_a_free_oracle(found: Rows, saved: float) -> None:
    assert market().saved(paper(1, found)) == pytest.approx(saved)  # 32 * 32 - 11 * 11 = 903, two layers cost 10
