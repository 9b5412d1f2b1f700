from __future__ import annotations

import numpy as np
import torch

from seer_core.kernels.sparsity import sparsity
from seer_core.probe.boundary import first_jump
from seer_core.tools.fit_paper import GAMMAS, TAUS, boundaries_on_grid, fit_paper, pad_curves
from seer_core.tools.scores import NO_BOUNDARY, Truth
from tests.unit.tools.planted import noise, planted_magnitudes, planted_truth


def test_the_grid_finds_what_the_detector_finds_row_by_row() -> None:
    rng = np.random.default_rng(0)
    curves = [rng.integers(0, 12, length) / 12 for length in (3, 4, 9, 17, 30)]
    canvas = np.array([len(curve) for curve in curves])
    grid = boundaries_on_grid(pad_curves(curves), canvas, taus=TAUS, gammas=GAMMAS, window=3)
    for t, tau in enumerate(TAUS):
        for g, gamma in enumerate(GAMMAS):
            alone = [first_jump(curve, tau_jump=tau, gamma=gamma, window=3) for curve in curves]
            assert grid[t, g].tolist() == [NO_BOUNDARY if found is None else found for found in alone]


def test_canvases_too_short_for_a_window_have_no_boundary() -> None:
    grid = boundaries_on_grid(np.ones((2, 3)), np.array([3, 2]), taus=(0.1,), gammas=(1.0,), window=3)
    assert grid.tolist() == [[[NO_BOUNDARY, NO_BOUNDARY]]]


def test_a_planted_jump_is_found_on_nearly_every_row() -> None:
    truth = planted_truth()
    fit = fit_paper(planted_magnitudes(truth), truth, layer=2, tensor="product")
    assert not fit.unsafe
    assert fit.score.detection_rate >= 0.9
    assert fit.score.mae_tokens is not None
    assert fit.score.mae_tokens < 0.5
    assert (fit.rule.layer, fit.rule.tensor, fit.rule.window, fit.rule.margin_tokens) == (2, "product", 3, 0)


def test_the_fitted_rule_reproduces_the_boundaries_it_was_chosen_for() -> None:
    truth = planted_truth()
    magnitudes = planted_magnitudes(truth)
    fit = fit_paper(magnitudes, truth, layer=2, tensor="product")
    rule = fit.rule
    for row, values in enumerate(magnitudes):
        curve = sparsity(values, rule.eps).numpy()
        found = first_jump(curve, tau_jump=rule.tau_jump, gamma=rule.gamma, window=rule.window)
        assert fit.boundaries[row] == (NO_BOUNDARY if found is None else found)


def test_where_there_is_nothing_to_see_the_rule_stays_silent() -> None:
    truth = planted_truth()
    fit = fit_paper(noise(truth), truth, layer=2, tensor="product")
    assert not fit.unsafe
    assert fit.score.over_truncation <= 0.01


def test_an_eps_is_tried_where_answers_are_although_most_of_the_canvas_is_fill() -> None:
    truth = planted_truth()
    magnitudes = [torch.cat((values, torch.rand(300, 64) * 1e-3)) for values in planted_magnitudes(truth)]
    long = Truth(canvas=truth.canvas + 300, end=np.where(truth.end < truth.canvas, truth.end, truth.canvas))
    assert fit_paper(magnitudes, long, layer=2, tensor="product").score.detection_rate >= 0.9
