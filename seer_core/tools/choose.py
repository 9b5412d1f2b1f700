"""From the fits of many taps to one profile: which tap each detector reads, its margin, and who is the default."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from seer_core.probe.profile import DETECTOR_NAMES, Profile
from seer_core.probe.rules import ACTIVATION_DETECTORS
from seer_core.tools.fit_calibrated import CalibratedFit
from seer_core.tools.fit_ended import EndFit
from seer_core.tools.fit_paper import PaperFit
from seer_core.tools.fit_readout import ReadoutFit
from seer_core.tools.price import Price
from seer_core.tools.scores import NO_BOUNDARY, Rows, Truth, smallest_margin, work

TapFit = PaperFit | CalibratedFit | ReadoutFit
Fit = TapFit | EndFit

USABLE = 0.2
"""A detector that saves less than this share of what an oracle saves shows no usable signal."""

ALIKE = 1.05
"""Costs are known to about this ratio from a few hundred rows, and what a wrong cut costs later is not in them."""

_SECTIONS = {"calibrated": "calibrated_rule"}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Market:
    """What every choice is made by: the rows' truth, what things cost, and how many ends a margin may lose."""

    truth: Truth
    price: Price
    lost_end: float

    def margin(self, fit: Fit) -> int:
        """The fewest tokens with which at most a share `lost_end` of the rows loses its end token's slot."""
        return smallest_margin(fit.boundaries, self.truth, self.lost_end)

    def total(self, fit: Fit) -> float:
        """Probe and denoising under that margin."""
        return self.price.total(fit.cost, fit.boundaries, self.truth, self.margin(fit))

    def saved(self, fit: Fit) -> float:
        """The share of what a free oracle would save of the whole canvases; below 0 where it costs more than that."""
        whole = work(silent(self.truth), self.truth)
        best = work(true_ends(self.truth), self.truth)
        return (whole - self.total(fit)) / (whole - best)


def best_taps(fits: Sequence[TapFit], market: Market) -> dict[str, TapFit]:
    """Each activation detector at the tap where it costs least; of those that cost alike, where it errs least."""
    named = {
        name: [fit for fit in fits if fit.detector == name] for name in dict.fromkeys(fit.detector for fit in fits)
    }
    return {name: _best_tap([fit for fit in one if not fit.unsafe] or one, market) for name, one in named.items()}


def _best_tap(fits: Sequence[TapFit], market: Market) -> TapFit:
    least = min(market.total(fit) for fit in fits)
    alike = [fit for fit in fits if market.total(fit) <= ALIKE * least]
    return min(alike, key=lambda fit: (fit.score.cost_tokens, fit.layer))


def strongest(best: Mapping[str, Fit], market: Market, names: Sequence[str] = DETECTOR_NAMES) -> str:
    """Who costs least among `names`; of equals the one named first."""
    return min((name for name in names if name in best), key=lambda name: market.total(best[name]))


def choose(best: Mapping[str, Fit], market: Market, *, fingerprint: str) -> Profile:
    """The profile of one fit per detector. The default is who costs least, or `none` where nobody saves enough."""
    default = strongest(best, market)
    if market.saved(best[default]) < USABLE:
        default = "none"
    sections: dict[str, Any] = {
        _SECTIONS.get(name, name): replace(fit.rule, margin_tokens=market.margin(fit)) for name, fit in best.items()
    }
    canvas = market.truth.canvas
    return Profile(
        fingerprint=fingerprint,
        default_detector=default,
        calibrated=True,
        provenance={
            "rows": len(canvas),
            "shortest_canvas": int(canvas.min()),
            "longest_canvas": int(canvas.max()),
            "lost_end": market.lost_end,
        },
        **sections,
    )


def verdict(best: Mapping[str, Fit], market: Market, default: str) -> str:
    """What a person should take from it, in one or two sentences."""
    early = strongest(best, market, ACTIVATION_DETECTORS)
    lacking = market.saved(best[early]) < USABLE
    if default == "none":
        return "No usable signal: no detector saves enough here to be worth its cost. Recommended: none."
    gain = f"{default} saves {market.saved(best[default]):.0%} of what an oracle would"
    if lacking:
        share = f"the best of them, {early}, saves {max(0.0, market.saved(best[early])):.0%}"
        return f"No usable signal in the early activations: {share}. Recommended: {default}; {gain}."
    return f"The early activations show the end. Recommended: {default}; {gain}."


def silent(truth: Truth) -> Rows:
    """Nothing detected on any row, [R]."""
    nothing: Rows = truth.end * 0 + NO_BOUNDARY
    return nothing


def true_ends(truth: Truth) -> Rows:
    """The boundaries of an oracle, [R]."""
    ends = truth.end.copy()
    ends[ends >= truth.canvas] = NO_BOUNDARY
    return ends
