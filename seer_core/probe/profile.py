"""The calibrated numbers of one checkpoint: right from birth, refused where anything is off.

A profile belongs to the weights whose fingerprint it carries. Knows no model; `profile_file.py` reads and writes it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import get_args

from seer_core.errors import ProfileError
from seer_core.layers.mlp import TapName

TENSORS: tuple[str, ...] = get_args(TapName)
"""Tensors of a block that can be tapped."""

DETECTOR_NAMES = ("paper", "readout", "none")
"""Names a profile may give its default detector."""

Provenance = Mapping[str, str | int | float]


@dataclass(frozen=True, slots=True, kw_only=True)
class PaperRule:
    """Where the `paper` detector taps and when it fires. The defaults are the paper's; `tensor` it leaves open."""

    layer: int = 3
    tensor: str = "product"
    eps: float = 1e-3
    tau_jump: float = 0.03
    gamma: float = 0.6
    window: int = 3
    margin_tokens: int = 0

    def __post_init__(self) -> None:
        _check_tap("paper", self.layer, self.tensor, self.margin_tokens)
        _check("paper.eps", _finite(self.eps) and self.eps > 0, "a number above 0")
        _check("paper.tau_jump", _finite(self.tau_jump), "a finite number")
        _check("paper.gamma", _finite(self.gamma) and self.gamma >= 0, "a number of at least 0")
        _check("paper.window", _whole(self.window) and self.window >= 1, "a whole number of at least 1")


@dataclass(frozen=True, slots=True, kw_only=True)
class Readout:
    """Where the `readout` detector taps, and its weights: `z = weights . |a| + bias`, one weight a unit."""

    layer: int
    tensor: str
    weights: tuple[float, ...] = field(repr=False)
    bias: float
    margin_tokens: int = 0

    def __post_init__(self) -> None:
        _check_tap("readout", self.layer, self.tensor, self.margin_tokens)
        numbers = bool(self.weights) and all(_finite(weight) for weight in self.weights)
        _check("readout.weights", numbers, "a list of finite numbers")
        _check("readout.bias", _finite(self.bias), "a finite number")


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """What the probe needs to know of one checkpoint.

    `fingerprint` is that of the weights; `calibrated` is false where the numbers are the paper's and nobody has fitted
    them. Every detector has its own margin, since every detector errs by its own amount.
    """

    fingerprint: str
    default_detector: str = "paper"
    paper: PaperRule = field(default_factory=PaperRule)
    readout: Readout | None = None
    calibrated: bool = False
    provenance: Provenance = field(default_factory=dict)

    def __post_init__(self) -> None:
        _check("fingerprint", isinstance(self.fingerprint, str) and self.fingerprint != "", "a text")
        _check("calibrated", isinstance(self.calibrated, bool), "true or false")
        _check("default_detector", self.default_detector in DETECTOR_NAMES, f"one of {', '.join(DETECTOR_NAMES)}")
        has_weights = self.default_detector != "readout" or self.readout is not None
        _check("default_detector", has_weights, "a detector this profile holds; it has no readout")
        plain = isinstance(self.provenance, Mapping) and all(
            isinstance(value, (str, int, float)) for value in self.provenance.values()
        )
        _check("provenance", plain, "texts and numbers by name")

    @property
    def depth(self) -> int:
        """K: how many decoder layers the probe runs."""
        deepest = self.paper.layer if self.readout is None else max(self.paper.layer, self.readout.layer)
        return deepest + 1

    def margin_of(self, detector: str) -> int:
        """Tokens kept behind the predicted end token's slot."""
        if detector == "readout" and self.readout is not None:
            return self.readout.margin_tokens
        return self.paper.margin_tokens


def _check_tap(where: str, layer: int, tensor: str, margin_tokens: int) -> None:
    _check(f"{where}.layer", _whole(layer) and layer >= 0, "a whole number of at least 0")
    _check(f"{where}.tensor", tensor in TENSORS, f"one of {', '.join(TENSORS)}")
    _check(f"{where}.margin_tokens", _whole(margin_tokens) and margin_tokens >= 0, "a whole number of at least 0")


def _check(name: str, holds: bool, expected: str) -> None:
    if not holds:
        raise ProfileError(f"profile field {name} must be {expected}", field=name)


def _whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _finite(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
