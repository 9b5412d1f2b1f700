"""From the fits of many taps to one profile: which tap each detector reads, its margin, and who is the default."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace

from seer_core.probe.profile import Profile
from seer_core.tools.fit_paper import PaperFit
from seer_core.tools.fit_readout import ReadoutFit
from seer_core.tools.scores import Truth, score, smallest_margin, wilson_upper

Report = dict[str, object]
Fit = PaperFit | ReadoutFit

MARGINS = (0, 1, 2, 3, 4, 6, 8, 12, 16)
"""The report says what each of these would cost."""

WORTH_A_LAYER_TOKENS = 0.1
"""A deeper tap must be better by this much per layer: every layer runs over the whole canvas of every request."""


def choose(
    papers: Sequence[PaperFit], readouts: Sequence[ReadoutFit], truth: Truth, *, lost_end: float, fingerprint: str
) -> tuple[Profile, Report]:
    """The profile from the fits of all taps: the detector that keeps fewer tokens under its margin is the default.

    The other one is then sought no deeper than the default, so that it costs the probe no layer.
    """
    paper, readout = _best_paper(papers), _best_readout(readouts)
    if _kept(readout, truth, lost_end) < _kept(paper, truth, lost_end):
        default = "readout"
        paper = _best_paper([fit for fit in papers if fit.layer <= readout.layer])
    else:
        default = "paper"
        readout = _best_readout([fit for fit in readouts if fit.layer <= paper.layer])
    profile = Profile(
        fingerprint=fingerprint,
        default_detector=default,
        paper=replace(paper.rule, margin_tokens=smallest_margin(paper.boundaries, truth, lost_end)),
        readout=replace(readout.readout, margin_tokens=smallest_margin(readout.boundaries, truth, lost_end)),
        calibrated=True,
        provenance={
            "rows": len(truth.canvas),
            "shortest_canvas": int(truth.canvas.min()),
            "longest_canvas": int(truth.canvas.max()),
            "lost_end": lost_end,
        },
    )
    report = {
        "rows": len(truth.canvas),
        "rows_with_end": int((truth.end < truth.canvas).sum()),
        "default_detector": default,
        "taps": [*map(_tap_row, papers), *map(_tap_row, readouts)],
        "paper": _detector_report(paper, truth, profile.margin_of("paper")),
        "readout": _detector_report(readout, truth, profile.margin_of("readout")),
    }
    return profile, report


def _best_paper(fits: Sequence[PaperFit]) -> PaperFit:
    return min(fits, key=lambda fit: (fit.unsafe, _cost(fit)))


def _best_readout(fits: Sequence[ReadoutFit]) -> ReadoutFit:
    return min(fits, key=_cost)


def _cost(fit: Fit) -> float:
    return fit.score.cost_tokens + WORTH_A_LAYER_TOKENS * fit.layer


def _kept(fit: Fit, truth: Truth, lost_end: float) -> float:
    return score(fit.boundaries, truth, smallest_margin(fit.boundaries, truth, lost_end)).kept_tokens


def _tap_row(fit: Fit) -> Report:
    place: Report
    if isinstance(fit, PaperFit):
        place = {"detector": "paper", **asdict(fit.rule)}
    else:
        place = {"detector": "readout", "layer": fit.layer, "tensor": fit.readout.tensor, "ridge": fit.ridge}
    return {**{name: value for name, value in place.items() if name != "margin_tokens"}, **asdict(fit.score)}


def _detector_report(fit: Fit, truth: Truth, margin: int) -> Report:
    with_margin = score(fit.boundaries, truth, margin)
    cut_short = round(with_margin.over_truncation * len(truth.canvas))
    return {
        **_tap_row(fit),
        "margin_tokens": margin,
        "with_margin": asdict(with_margin),
        "over_truncation_upper": wilson_upper(cut_short, len(truth.canvas)),
        "margins": [{"margin_tokens": m, **asdict(score(fit.boundaries, truth, m))} for m in MARGINS],
    }
