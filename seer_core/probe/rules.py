"""The numbers each detector goes by: right from birth, refused by the name of the field that is off.

One record a detector. Every detector errs by its own amount, so each has its own margin. Knows no model and no file.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import get_args

from seer_core.errors import ProfileError
from seer_core.layers.mlp import TapName

TENSORS: tuple[str, ...] = get_args(TapName)
"""Tensors of a block that can be tapped."""

ACTIVATION_DETECTORS = ("paper", "calibrated", "readout")
"""Those that look at early activations alone."""


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
        _check_jump("paper", self.eps, self.tau_jump, self.gamma, self.window)


@dataclass(frozen=True, slots=True, kw_only=True)
class CalibratedRule:
    """The paper's statistic with a per-position `baseline` taken off, and two guards; see `calibrated.py`.

    `baseline` is the sparsity to be expected of fill at each position, its last value that of every later one.
    `shift_tokens` is how far behind the first end token the jump lies, `plateau_tokens` how many positions must follow
    it, and `relapse` the share of those that may fall back.
    """

    layer: int
    tensor: str
    eps: float
    tau_jump: float
    gamma: float
    baseline: tuple[float, ...] = field(repr=False)
    window: int = 3
    shift_tokens: int = 0
    plateau_tokens: int = 3
    relapse: float = 0.15
    margin_tokens: int = 0

    def __post_init__(self) -> None:
        _check_tap("calibrated_rule", self.layer, self.tensor, self.margin_tokens)
        _check_jump("calibrated_rule", self.eps, self.tau_jump, self.gamma, self.window)
        check("calibrated_rule.tau_jump", self.tau_jump > 0, "a number above 0")
        check("calibrated_rule.baseline", _finite_numbers(self.baseline), "a list of finite numbers")
        for name, value in (("shift_tokens", self.shift_tokens), ("plateau_tokens", self.plateau_tokens)):
            check(f"calibrated_rule.{name}", _whole(value) and value >= 0, "a whole number of at least 0")
        check("calibrated_rule.relapse", _finite(self.relapse) and 0 <= self.relapse <= 1, "a number from 0 to 1")


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
        check("readout.weights", _finite_numbers(self.weights), "a list of finite numbers")
        check("readout.bias", _finite(self.bias), "a finite number")


@dataclass(frozen=True, slots=True, kw_only=True)
class FirstEndRule:
    """`first_end` has no threshold, only a margin."""

    margin_tokens: int = 0

    def __post_init__(self) -> None:
        _check_margin("first_end", self.margin_tokens)


@dataclass(frozen=True, slots=True, kw_only=True)
class SmartCropRule:
    """`smartcrop` cuts where the answer has ended with a probability of `threshold`; the default is SmartCrop's own."""

    threshold: float = 0.95
    margin_tokens: int = 0

    def __post_init__(self) -> None:
        _check_probability("smartcrop.threshold", self.threshold)
        _check_margin("smartcrop", self.margin_tokens)


@dataclass(frozen=True, slots=True, kw_only=True)
class DualRule:
    """`dual` hears `activation`, one of the activation detectors, and the end probabilities at `threshold`.

    Where the two are at most `agree_tokens` apart the activations' word counts, otherwise the later one.
    """

    activation: str = "paper"
    threshold: float = 0.9
    agree_tokens: int = 4
    margin_tokens: int = 0

    def __post_init__(self) -> None:
        known = ", ".join(ACTIVATION_DETECTORS)
        check("dual.activation", self.activation in ACTIVATION_DETECTORS, f"one of {known}")
        _check_probability("dual.threshold", self.threshold)
        agree = _whole(self.agree_tokens) and self.agree_tokens >= 0
        check("dual.agree_tokens", agree, "a whole number of at least 0")
        _check_margin("dual", self.margin_tokens)


def check(name: str, holds: bool, expected: str) -> None:
    """Raises `ProfileError` naming field `name` unless it `holds`."""
    if not holds:
        raise ProfileError(f"profile field {name} must be {expected}", field=name)


def _check_tap(where: str, layer: int, tensor: str, margin_tokens: int) -> None:
    check(f"{where}.layer", _whole(layer) and layer >= 0, "a whole number of at least 0")
    check(f"{where}.tensor", tensor in TENSORS, f"one of {', '.join(TENSORS)}")
    _check_margin(where, margin_tokens)


def _check_jump(where: str, eps: float, tau_jump: float, gamma: float, window: int) -> None:
    check(f"{where}.eps", _finite(eps) and eps > 0, "a number above 0")
    check(f"{where}.tau_jump", _finite(tau_jump), "a finite number")
    check(f"{where}.gamma", _finite(gamma) and gamma >= 0, "a number of at least 0")
    check(f"{where}.window", _whole(window) and window >= 1, "a whole number of at least 1")


def _check_margin(where: str, margin_tokens: int) -> None:
    check(f"{where}.margin_tokens", _whole(margin_tokens) and margin_tokens >= 0, "a whole number of at least 0")


def _check_probability(name: str, value: float) -> None:
    check(name, _finite(value) and 0 < value < 1, "a number between 0 and 1")


def _finite_numbers(values: Sequence[float]) -> bool:
    return bool(values) and all(_finite(value) for value in values)


def _whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _finite(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
