"""The detectors a request may name. One interface: evidence and profile in, a detection out.

A new detector is one function and one row of `DETECTORS`; two more carry their answer in their name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from types import MappingProxyType
from typing import TypeVar

from seer_core.errors import EngineError, InvalidRequest
from seer_core.probe.boundary import NOTHING, Detection, kept_tokens, paper_boundary
from seer_core.probe.calibrated import calibrated_boundary
from seer_core.probe.cost import FREE, WHOLE_STEP, Cost
from seer_core.probe.ended import dual_boundary, first_end_boundary, smartcrop_boundary
from seer_core.probe.profile import CalibratedRule, PaperRule, Profile, Readout
from seer_core.probe.readout import readout_boundary
from seer_core.probe.statistic import Evidence, step_at
from seer_core.types import Forecast

See = Callable[[Evidence, Profile], Detection]
Value = TypeVar("Value")


@dataclass(frozen=True, slots=True, kw_only=True)
class Detector:
    """`see` makes the detection, `cost` says what must have been run under a profile for it."""

    name: str
    see: See
    cost: Callable[[Profile], Cost]


def paper(evidence: Evidence, profile: Profile) -> Detection:
    """First significant and stable rise of the sparsity, under the profile's thresholds."""
    rule = profile.paper
    return paper_boundary(evidence, tau_jump=rule.tau_jump, gamma=rule.gamma, window=rule.window)


def calibrated(evidence: Evidence, profile: Profile) -> Detection:
    """The same on the sparsity without its baseline, guarded; needs a profile with a calibrated rule."""
    return calibrated_boundary(_seen(evidence.centred, "calibrated"), _held(profile.calibrated_rule, "calibrated rule"))


def readout(evidence: Evidence, profile: Profile) -> Detection:
    """Best split of the readout's scores; needs a profile with a readout."""
    _held(profile.readout, "readout")
    return readout_boundary(_seen(evidence.scores, "readout"))


def first_end(evidence: Evidence, profile: Profile) -> Detection:  # noqa: ARG001 - the detectors' common interface
    """First position whose likeliest token is an end token."""
    likeliest = _seen(evidence.end_likeliest, "first_end")
    return first_end_boundary(likeliest, _seen(evidence.end_probability, "first_end"))


def smartcrop(evidence: Evidence, profile: Profile) -> Detection:
    """First position by which an end token has come with the profile's probability."""
    return smartcrop_boundary(_seen(evidence.end_probability, "smartcrop"), threshold=profile.smartcrop.threshold)


def dual(evidence: Evidence, profile: Profile) -> Detection:
    """Early activations and end probabilities together."""
    activation = DETECTORS[profile.dual.activation].see(evidence, profile)
    return dual_boundary(activation, _seen(evidence.end_probability, "dual"), profile.dual)


def none(evidence: Evidence, profile: Profile) -> Detection:  # noqa: ARG001 - the detectors' common interface
    """Sees no end: the whole canvas is denoised."""
    return NOTHING


def oracle(boundary: int) -> See:
    """Says `boundary`, however it came to be known: a bound to measure others against."""

    def told(evidence: Evidence, profile: Profile) -> Detection:  # noqa: ARG001 - the detectors' common interface
        return Detection(boundary=boundary, score=0.0) if boundary < evidence.canvas_tokens else NOTHING

    return told


def fixed(length_tokens: int) -> See:
    """Keeps `length_tokens`, whatever the question: the rule of thumb that a detector has to beat."""
    return oracle(length_tokens - 1)


def _to_tap(rule: PaperRule | CalibratedRule | Readout | None, section: str) -> Cost:
    if rule is None:
        raise InvalidRequest(f"this checkpoint's profile has no {section}; calibrate it first", field="detector")
    return Cost(layers=rule.layer + 1, tap=rule.tensor)


DETECTORS: Mapping[str, Detector] = MappingProxyType(
    {
        "paper": Detector(name="paper", see=paper, cost=lambda p: _to_tap(p.paper, "paper rule")),
        "calibrated": Detector(
            name="calibrated", see=calibrated, cost=lambda p: _to_tap(p.calibrated_rule, "calibrated rule")
        ),
        "readout": Detector(name="readout", see=readout, cost=lambda p: _to_tap(p.readout, "readout")),
        "first_end": Detector(name="first_end", see=first_end, cost=lambda _: WHOLE_STEP),
        "smartcrop": Detector(name="smartcrop", see=smartcrop, cost=lambda _: WHOLE_STEP),
        "dual": Detector(name="dual", see=dual, cost=lambda _: WHOLE_STEP),
        "none": Detector(name="none", see=none, cost=lambda _: FREE),
    }
)

GIVEN: Mapping[str, Callable[[int], See]] = MappingProxyType({"oracle": oracle, "fixed": fixed})
"""Detectors that are told: `oracle:13` says that the first end token is in slot 13, `fixed:24` keeps 24 tokens."""

_LEAST = MappingProxyType({"oracle": 0, "fixed": 1})


def detector_named(name: str, profile: Profile) -> Detector:
    """The detector of that name. Raises `InvalidRequest` for an unknown name, or one this profile cannot serve."""
    kind, _, number = name.partition(":")
    if kind in GIVEN:
        return Detector(name=kind, see=GIVEN[kind](_number(kind, number)), cost=lambda _: FREE)
    if name not in DETECTORS:
        known = (*DETECTORS, *GIVEN)
        listed = (*DETECTORS, *(f"{each}:N" for each in GIVEN))
        near = get_close_matches(kind, known, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise InvalidRequest(f"unknown detector {name!r}, known are {', '.join(listed)}{hint}", field="detector")
    detector = DETECTORS[name]
    detector.cost(profile)
    return detector


def holds(profile: Profile, name: str) -> bool:
    """Whether the profile has the numbers that the detector of this name needs."""
    return {"calibrated": profile.calibrated_rule, "readout": profile.readout}.get(name, profile) is not None


def forecast_from(evidence: Evidence, profile: Profile, name: str) -> Forecast:
    """What detector `name` makes of the evidence, as the forecast a request carries from here on."""
    return foresee(detector_named(name, profile), evidence, profile)


def foresee(detector: Detector, evidence: Evidence, profile: Profile) -> Forecast:
    """`forecast_from` for a detector that is already looked up."""
    found = detector.see(evidence, profile)
    step = step_at(evidence, found.boundary, profile.paper.window)
    return Forecast(
        length_tokens=kept_tokens(found.boundary, evidence.canvas_tokens, profile.margin_of(detector.name)),
        canvas_tokens=evidence.canvas_tokens,
        boundary=found.boundary,
        detector=detector.name,
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


def _number(kind: str, text: str) -> int:
    least = _LEAST[kind]
    if not (text.isascii() and text.isdecimal() and int(text) >= least):
        wanted = f"a whole number of at least {least}, as in {kind}:24"
        raise InvalidRequest(f"detector {kind!r} needs {wanted}, not {text!r}", field="detector")
    return int(text)


def _seen(value: Value | None, name: str) -> Value:
    """What a detector reads; missing only where the probe ran less than the detector's cost says."""
    if value is None:
        raise EngineError(f"the probe has not looked at what detector {name!r} reads")
    return value


def _held(section: Value | None, name: str) -> Value:
    if section is None:
        raise InvalidRequest(f"this checkpoint's profile has no {name}; calibrate it first", field="detector")
    return section
