"""What a calibration found, as plain JSON values: every tap, every detector under its margin, curves to plot."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict

import numpy as np

from seer_core.tools.choose import Fit, Market, TapFit, silent, true_ends, verdict
from seer_core.tools.fit_readout import ReadoutFit
from seer_core.tools.scores import score, wilson_upper, work

Report = dict[str, object]

MARGINS = (0, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32)
"""The report says what each of these would cost."""

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
        place["ridge"] = fit.ridge
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
        "work_probe": market.price.probe(fit.cost),
        "work": market.total(fit),
        "saved_of_oracle": market.saved(fit),
        "margins": [_margin_row(fit, market, tokens) for tokens in MARGINS],
    }


def _margin_row(fit: Fit, market: Market, tokens: int) -> Report:
    found = score(fit.boundaries, market.truth, tokens)
    saved = 1.0 - found.kept_tokens / float(np.mean(market.truth.canvas))
    return {"margin_tokens": tokens, "positions_saved": saved, **asdict(found)}
