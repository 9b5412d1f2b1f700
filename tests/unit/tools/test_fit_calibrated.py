from __future__ import annotations

import numpy as np
import torch

from seer_core.kernels.sparsity import sparsity
from seer_core.probe.calibrated import calibrated_boundary, centre
from seer_core.tools.fit_calibrated import fill_baseline, fit_calibrated
from seer_core.tools.scores import NO_BOUNDARY, Truth
from tests.unit.tools.planted import UNITS, noise, planted_magnitudes, planted_truth


def test_a_planted_jump_is_found_on_rows_that_were_held_out() -> None:
    truth = planted_truth()
    fit = fit_calibrated(planted_magnitudes(truth), truth, layer=2, tensor="mlp")
    assert fit.score.detection_rate >= 0.9
    assert fit.score.cost_tokens < 1.0
    assert (fit.rule.layer, fit.rule.tensor, fit.cost.layers) == (2, "mlp", 3)


def test_a_ripple_by_position_hides_no_end() -> None:
    # The units that say nothing are silent at every second position: as high a step as the end's own.
    truth = planted_truth(rows=60)
    rippled = planted_magnitudes(truth)
    for values in rippled:
        values[1::2, UNITS // 2 :] = 0.0
    fit = fit_calibrated(rippled, truth, layer=2, tensor="mlp")
    assert fit.score.detection_rate > 0.9
    assert fit.score.cost_tokens < 1.0


def test_a_plateau_that_starts_late_is_shifted_back() -> None:
    truth = planted_truth(rows=60)
    late = Truth(canvas=truth.canvas, end=np.where(truth.end < truth.canvas, np.maximum(truth.end - 2, 0), truth.end))
    fit = fit_calibrated(planted_magnitudes(truth), late, layer=2, tensor="mlp")
    assert fit.rule.shift_tokens == 2
    assert fit.score.cost_tokens < 1.0


def test_the_fitted_rule_runs_as_it_was_fitted() -> None:
    truth = planted_truth()
    magnitudes = planted_magnitudes(truth)
    rule = fit_calibrated(magnitudes, truth, layer=2, tensor="mlp").rule
    curves = [centre(sparsity(values, rule.eps).numpy(), rule.baseline) for values in magnitudes]
    found = [calibrated_boundary(curve, rule).boundary for curve in curves]
    near = [one is not None and abs(one - end) <= 1 for one, end in zip(found, truth.end, strict=True)]
    assert sum(near) >= 0.9 * (truth.end < truth.canvas).sum()


def test_where_there_is_nothing_to_see_hardly_any_answer_is_cut() -> None:
    truth = planted_truth()
    assert fit_calibrated(noise(truth), truth, layer=2, tensor="mlp").score.over_truncation <= 0.1


def test_a_canvas_too_short_for_a_window_is_no_obstacle() -> None:
    truth = Truth(canvas=np.array([2, 16]), end=np.array([1, 16]))
    seen = [torch.rand(length, UNITS, generator=torch.Generator().manual_seed(length)) for length in (2, 16)]
    assert fit_calibrated(seen, truth, layer=0, tensor="mlp").boundaries[0] == NO_BOUNDARY


def test_the_baseline_is_the_fill_of_each_position_or_of_all_where_few_show_it() -> None:
    curves = [np.array([0.9, 0.2, 0.4, 0.4]) for _ in range(6)] + [np.array([0.9, 0.2, 0.4, 0.4, 0.8])]
    truth = Truth(canvas=np.array([4] * 6 + [5]), end=np.full(7, 1))
    assert fill_baseline(curves, truth) == (0.4, 0.2, 0.4, 0.4, 0.4, 0.4)
