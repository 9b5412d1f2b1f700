"""The window that calibration chooses, on a tiny decoder whose readout sees what it is told to see."""

from __future__ import annotations

import numpy as np
import pytest

from seer_core.probe.profile import PaperRule, Profile, Readout
from seer_core.tools.fit_window import FEWEST_ROWS, WindowFit, fit_window
from seer_core.tools.labelled import Labelled
from seer_core.tools.scores import Truth
from tests.unit.probe.tiny import random_prompt
from tests.unit.tools.stand_ins import TinyStages

SEES_ALL, SEES_NOTHING = 1e6, -1e6
"""Of a readout without weights: the end is at slot 0, or nowhere."""


def fitted(bias: float, end: int, canvases: tuple[int, ...] = (64,)) -> tuple[int | None, list[WindowFit]]:
    readout = Readout(layer=0, tensor="gate", weights=(0.0,) * 48, bias=bias)
    profile = Profile(fingerprint="tiny", default_detector="readout", paper=PaperRule(layer=0), readout=readout)
    canvas = np.repeat(canvases, FEWEST_ROWS)
    prompts = [random_prompt(4, seed) for seed in range(len(canvas))]
    labelled = Labelled(prompts=prompts, truth=Truth(canvas=canvas, end=np.full(len(canvas), end)))
    return fit_window(TinyStages(), labelled, profile, lost_end=0.01, batch_rows=16, progress=False)


def test_ends_that_show_early_need_the_shortest_window() -> None:
    window, tried = fitted(SEES_ALL, end=0, canvases=(64, 128))
    assert window == 32
    assert [(fit.window_tokens, fit.longer, fit.probe_positions) for fit in tried] == [(32, 48, 36.0), (64, 24, 68.0)]


def test_a_window_in_which_no_end_shows_only_costs() -> None:
    window, (tried,) = fitted(SEES_NOTHING, end=40)
    assert (window, tried.looked_again, tried.changed) == (None, 1.0, 0.0)
    assert tried.probe_positions == (4 + 32) + (4 + 64)


def test_a_window_that_loses_ends_is_not_taken() -> None:
    window, (tried,) = fitted(SEES_ALL, end=5)
    assert (window, tried.lost_end) == (None, 1.0)


@pytest.mark.parametrize("canvas", [16, 32])
def test_where_no_canvas_is_longer_there_is_nothing_to_choose(canvas: int) -> None:
    assert fitted(SEES_ALL, end=0, canvases=(canvas,)) == (None, [])
