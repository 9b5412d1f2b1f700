"""The detectors a request may name. One interface: evidence and profile in, a detection out.

A new detector is one function and one row of `DETECTORS`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from difflib import get_close_matches
from types import MappingProxyType

from seer_core.errors import InvalidRequest
from seer_core.probe.boundary import NOTHING, Detection, kept_tokens, paper_boundary
from seer_core.probe.profile import Profile
from seer_core.probe.readout import readout_boundary
from seer_core.probe.statistic import Evidence, step_at
from seer_core.types import Forecast

Detector = Callable[[Evidence, Profile], Detection]


def paper(evidence: Evidence, profile: Profile) -> Detection:
    """First significant and stable rise of the sparsity, under the profile's thresholds."""
    rule = profile.paper
    return paper_boundary(evidence, tau_jump=rule.tau_jump, gamma=rule.gamma, window=rule.window)


def readout(evidence: Evidence, profile: Profile) -> Detection:  # noqa: ARG001 - the detectors' common interface
    """Best split of the readout's scores; needs a profile with a readout."""
    if evidence.scores is None:
        raise _no_readout()
    return readout_boundary(evidence.scores)


def none(evidence: Evidence, profile: Profile) -> Detection:  # noqa: ARG001 - the detectors' common interface
    """Sees no end: the whole canvas is denoised."""
    return NOTHING


DETECTORS: Mapping[str, Detector] = MappingProxyType({"paper": paper, "readout": readout, "none": none})


def detector_named(name: str, profile: Profile) -> Detector:
    """The detector of that name. Raises `InvalidRequest` for an unknown name, or one this profile cannot serve."""
    if name not in DETECTORS:
        near = get_close_matches(name, DETECTORS, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise InvalidRequest(f"unknown detector {name!r}, known are {', '.join(DETECTORS)}{hint}", field="detector")
    if name == "readout" and profile.readout is None:
        raise _no_readout()
    return DETECTORS[name]


def forecast_from(evidence: Evidence, profile: Profile, name: str) -> Forecast:
    """What detector `name` makes of the evidence, as the forecast a request carries from here on."""
    found = detector_named(name, profile)(evidence, profile)
    step = step_at(evidence, found.boundary, profile.paper.window)
    return Forecast(
        length_tokens=kept_tokens(found.boundary, evidence.canvas_tokens, profile.margin_of(name)),
        canvas_tokens=evidence.canvas_tokens,
        boundary=found.boundary,
        detector=name,
        score=found.score,
        jump=step.jump,
        noise=step.noise,
        snr=step.snr,
        fallback=found.boundary is None,
    )


def whole_canvas(canvas_tokens: int) -> Forecast:
    """The forecast of a request that asks for no truncation; needs no evidence."""
    return Forecast(
        length_tokens=canvas_tokens,
        canvas_tokens=canvas_tokens,
        boundary=None,
        detector="none",
        score=0.0,
        jump=0.0,
        noise=0.0,
        snr=0.0,
        fallback=True,
    )


def _no_readout() -> InvalidRequest:
    return InvalidRequest("this checkpoint's profile has no readout; calibrate it first", field="detector")
