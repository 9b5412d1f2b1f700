"""The calibrated numbers of one checkpoint: right from birth, refused where anything is off.

A profile belongs to the weights whose fingerprint it carries. Knows no model; `profile_file.py` reads and writes it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from seer_core.probe.rules import (
    CalibratedRule,
    DualRule,
    FirstEndRule,
    PaperRule,
    Readout,
    SmartCropRule,
    check,
)

__all__ = [
    "DETECTOR_NAMES",
    "CalibratedRule",
    "DualRule",
    "FirstEndRule",
    "PaperRule",
    "Profile",
    "Provenance",
    "Readout",
    "SmartCropRule",
]

DETECTOR_NAMES = ("paper", "calibrated", "readout", "first_end", "smartcrop", "dual", "none")
"""Names a profile may give its default detector."""

Provenance = Mapping[str, str | int | float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """What the probe needs to know of one checkpoint.

    `fingerprint` is that of the weights; `calibrated` is false where the numbers are the paper's and nobody has fitted
    them. Without a `readout` or a `calibrated_rule` the checkpoint cannot be served by that detector. A canvas longer
    than `window_tokens` is probed as one of so many first (see `window.py`); None probes it whole.
    """

    fingerprint: str
    default_detector: str = "paper"
    paper: PaperRule = field(default_factory=PaperRule)
    readout: Readout | None = None
    calibrated: bool = False
    provenance: Provenance = field(default_factory=dict)
    calibrated_rule: CalibratedRule | None = None
    first_end: FirstEndRule = field(default_factory=FirstEndRule)
    smartcrop: SmartCropRule = field(default_factory=SmartCropRule)
    dual: DualRule = field(default_factory=DualRule)
    window_tokens: int | None = None

    def __post_init__(self) -> None:
        check("fingerprint", isinstance(self.fingerprint, str) and self.fingerprint != "", "a text")
        check("calibrated", isinstance(self.calibrated, bool), "true or false")
        check("default_detector", self.default_detector in DETECTOR_NAMES, f"one of {', '.join(DETECTOR_NAMES)}")
        self._check_held("default_detector", self.default_detector)
        self._check_held("dual.activation", self.dual.activation)
        plain = isinstance(self.provenance, Mapping) and all(
            isinstance(value, (str, int, float)) for value in self.provenance.values()
        )
        window = self.window_tokens
        fits = window is None or (type(window) is int and window >= 1)
        check("window_tokens", fits, "a whole number from 1 on, or null")
        check("provenance", plain, "texts and numbers by name")

    @property
    def depth(self) -> int:
        """How many decoder layers hold all taps of this profile."""
        taps = (self.paper, self.calibrated_rule, self.readout)
        return max(rule.layer for rule in taps if rule is not None) + 1

    def margin_of(self, detector: str) -> int:
        """Tokens kept behind the predicted end token's slot; none for a detector that is not calibrated."""
        rules = {
            "paper": self.paper,
            "calibrated": self.calibrated_rule,
            "readout": self.readout,
            "first_end": self.first_end,
            "smartcrop": self.smartcrop,
            "dual": self.dual,
        }
        rule = rules.get(detector)
        return 0 if rule is None else rule.margin_tokens

    def _check_held(self, name: str, detector: str) -> None:
        missing = {"readout": self.readout is None, "calibrated": self.calibrated_rule is None}
        lacking = {"readout": "readout", "calibrated": "calibrated rule"}
        held = not missing.get(detector, False)
        check(name, held, f"a detector this profile holds; it has no {lacking.get(detector)}")
