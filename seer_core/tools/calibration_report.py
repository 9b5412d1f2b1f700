"""What a calibration found, as plain JSON values: every tap, every detector under its margin, curves to plot."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict

import numpy as np

from seer_core.tools.choose import Fit, Market, TapFit, silent, true_ends, verdict
from seer_core.tools.fit_readout import ReadoutFit
from seer_core.tools.scores import Rows, Truth, kept, score, wilson_upper, work

Report = dict[str, object]

MARGINS = (0, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32)
"""The report says what each of these would cost."""

TRADES = (-16, -12, -8, -6, -4, -3, -2, -1, *MARGINS)
"""Margins below zero show how fast a detector starts to cut."""

_LARGE = ("weights", "baseline", "margin_tokens")


def report_of(taps: Sequence[TapFit], best: Mapping[str, Fit], market: Market, default: str) -> Report:
    """The whole report but its pictures."""
    truth, price = market.truth, market.price
    return {
        "rows": len(truth.canvas),
        "rows_with_end": int((truth.end < truth.canvas).sum()),
        "default_detector": default,
        "verdict": verdict(best, market, default),
        "work": {"whole_canvas": work(silent(truth), truth), "oracle": work(true_ends(truth), truth), **asdict(price)},
        "taps": [_tap_row(fit) for fit in taps],
        **{name: _detector_report(fit, market) for name, fit in best.items()},
    }


def _tap_row(fit: Fit) -> Report:
    place = {name: value for name, value in asdict(fit.rule).items() if name not in _LARGE}
    if isinstance(fit, ReadoutFit):
        place |= {"ridge": fit.ridge, "caution": fit.caution}
    return {"detector": fit.detector, **place, **asdict(fit.score)}


def _detector_report(fit: Fit, market: Market) -> Report:
    truth, margin = market.truth, market.margin(fit)
    with_margin = score(fit.boundaries, truth, margin)
    cut_short = round(with_margin.over_truncation * len(truth.canvas))
    return {
        **_tap_row(fit),
        "layers_run": fit.cost.layers_of(market.price.layers),
        "head": fit.cost.head,
        "margin_tokens": margin,
        "with_margin": asdict(with_margin),
        "over_truncation_upper": wilson_upper(cut_short, len(truth.canvas)),
        "false_cuts": false_cuts(fit.boundaries, truth, margin),
        "work_probe": market.price.probe(fit.cost),
        "work": market.total(fit),
        "saved_of_oracle": market.saved(fit),
        "margins": [{"margin_tokens": tokens, **asdict(score(fit.boundaries, truth, tokens))} for tokens in MARGINS],
        "trade": [_trade(fit, market, tokens) for tokens in TRADES],
    }


def false_cuts(boundaries: Rows, truth: Truth, margin_tokens: int) -> float | None:
    """Share of the canvases without an end that are cut all the same; None where there are none such."""
    endless = truth.end >= truth.canvas
    cut = kept(boundaries, truth.canvas, margin_tokens) < truth.canvas
    return float(cut[endless].mean()) if endless.any() else None


def _trade(fit: Fit, market: Market, tokens: int) -> Report:
    """What is saved and what is cut short if `tokens` more than up to the end token are kept, fewer where negative."""
    truth = market.truth
    lengths = np.maximum(1, kept(fit.boundaries, truth.canvas, tokens))
    return {
        "margin_tokens": tokens,
        "positions_saved": 1.0 - float(lengths.mean() / truth.canvas.mean()),
        "over_truncation": float((lengths < truth.end).mean()),
    }
