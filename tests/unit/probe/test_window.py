"""Long canvases are looked at through the profile's window first, and whole only where no end shows in it."""

from __future__ import annotations

from dataclasses import replace
from unittest.mock import patch

import pytest

from seer_core.config import LoopFacts
from seer_core.probe.probe import Probe
from seer_core.probe.profile import PaperRule, Profile, Readout, SmartCropRule
from seer_core.types import Decoding
from tests.unit.probe.tiny import ROLES, random_prompt, tiny_model

BLIND, SURE = (
    Profile(
        fingerprint="tiny",
        paper=PaperRule(layer=1),
        readout=Readout(layer=1, tensor="product", weights=(0.0,) * 48, bias=bias, margin_tokens=2),
    )
    for bias in (-1e6, 1e6)
)


def probe(profile: Profile) -> Probe:
    return Probe(tiny_model(), ROLES, profile, loop=LoopFacts(prefix_lm=True))


def windowed(window_tokens: int) -> Probe:
    return probe(replace(BLIND, window_tokens=window_tokens))


def lengths_run(checked: Probe, canvas: int, detector: str) -> list[int]:
    """Canvases that were looked at, in order."""
    with patch.object(checked, "observe", wraps=checked.observe) as observe:
        checked.forecast([random_prompt(4, 0)], [canvas], [Decoding(detector=detector)])
    return [length for call in observe.call_args_list for length in call.args[1]]


@pytest.mark.parametrize("detector", ["readout", "smartcrop", "none"])
def test_without_an_end_in_the_window_the_forecast_is_that_of_the_whole_canvas(detector: str) -> None:
    decoding = [Decoding(detector=detector)]
    blind = replace(BLIND, smartcrop=SmartCropRule(threshold=1 - 1e-9))
    (whole,) = probe(blind).forecast([random_prompt(4, 0)], [64], decoding)
    (through,) = probe(replace(blind, window_tokens=16)).forecast([random_prompt(4, 0)], [64], decoding)
    assert through == whole
    assert (through.canvas_tokens, through.length_tokens) == (64, 64)


def test_an_end_in_the_window_is_told_of_the_whole_canvas_and_nothing_else_is_run() -> None:
    checked = probe(replace(SURE, window_tokens=16))
    (forecast,) = checked.forecast([random_prompt(4, 0)], [64], [Decoding(detector="readout")])
    assert (forecast.canvas_tokens, forecast.boundary, forecast.length_tokens, forecast.fallback) == (64, 0, 3, False)
    assert lengths_run(checked, 64, "readout") == [16]
    assert lengths_run(checked, 12, "readout") == [12]


@pytest.mark.parametrize(("told", "lengths"), [(13, [16]), (14, [16, 64]), (20, [16, 64])])
def test_an_end_at_the_edge_of_the_window_is_looked_at_again(told: int, lengths: list[int]) -> None:
    assert lengths_run(windowed(16), 64, f"oracle:{told}") == lengths
    (forecast,) = windowed(16).forecast([random_prompt(4, 0)], [64], [Decoding(detector=f"oracle:{told}")])
    assert (forecast.boundary, forecast.length_tokens) == (told, told + 1)


def test_rows_of_one_batch_are_looked_at_again_each_for_itself() -> None:
    prompts = [random_prompt(4, seed) for seed in range(3)]
    decodings = [Decoding(detector=f"oracle:{told}") for told in (2, 40, 5)]
    found = windowed(16).forecast(prompts, [64, 64, 8], decodings)
    assert [one.boundary for one in found] == [2, 40, 5]
    assert [one.canvas_tokens for one in found] == [64, 64, 8]


def test_what_people_are_shown_is_the_whole_canvas_and_the_forecast_of_a_request() -> None:
    checked = probe(replace(SURE, window_tokens=16))
    shown = checked.profile_curve(random_prompt(4, 0), 64, "readout")
    (asked,) = checked.forecast([random_prompt(4, 0)], [64], [Decoding(detector="readout")])
    assert (shown.evidence.canvas_tokens, shown.forecast) == (64, asked)
