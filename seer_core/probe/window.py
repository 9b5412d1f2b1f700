"""The probe's window: a long canvas is looked at as a short one first.

A probe runs the prompt and as many masks as the canvas has, though most answers end early. Where an end shows on a
canvas of `window_tokens`, the rest of the masks would tell nothing new, on a checkpoint whose answers do not depend on
the canvas's length: calibration measures that, and sets no window elsewhere.
"""

from __future__ import annotations

from dataclasses import replace

from seer_core.probe.boundary import kept_tokens
from seer_core.types import Forecast

EDGE = 8
"""An end in the last `1 / EDGE` of the window is looked at again: it may have been squeezed in."""


def first_look(canvas_tokens: int, window_tokens: int | None) -> int:
    """On how many masks a canvas is probed first."""
    return canvas_tokens if window_tokens is None else min(canvas_tokens, window_tokens)


def settled(forecast: Forecast, canvas_tokens: int) -> bool:
    """Whether a forecast from a first look stands for the canvas; where not, the whole is to be looked at."""
    looked, boundary = forecast.canvas_tokens, forecast.boundary
    return looked == canvas_tokens or (boundary is not None and boundary < looked - looked // EDGE)


def widened(forecast: Forecast, canvas_tokens: int, margin_tokens: int) -> Forecast:
    """The forecast as one of the whole canvas."""
    kept = kept_tokens(forecast.boundary, canvas_tokens, margin_tokens)
    return replace(forecast, canvas_tokens=canvas_tokens, length_tokens=kept)
