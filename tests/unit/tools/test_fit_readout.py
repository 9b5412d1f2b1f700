from __future__ import annotations

import pytest
import torch

from seer_core.probe.readout import readout_scores
from seer_core.tools.fit_readout import fit_logistic, fit_readout
from tests.unit.tools.planted import UNITS, noise, planted_magnitudes, planted_truth


def test_a_planted_boundary_is_found_on_rows_that_were_held_out() -> None:
    truth = planted_truth()
    fit = fit_readout(planted_magnitudes(truth), truth, layer=1, tensor="gate")
    assert fit.score.cost_tokens < 0.2
    assert (fit.readout.layer, fit.readout.tensor, len(fit.readout.weights)) == (1, "gate", UNITS)


def test_the_weights_lie_on_the_units_that_speak() -> None:
    truth = planted_truth()
    weights = torch.tensor(fit_readout(planted_magnitudes(truth), truth, layer=1, tensor="gate").readout.weights)
    assert weights[: UNITS // 2].abs().mean() > 5 * weights[UNITS // 2 :].abs().mean()


def test_held_out_scores_show_no_memory_of_noise() -> None:
    truth = planted_truth()
    assert fit_readout(noise(truth), truth, layer=1, tensor="gate").score.cost_tokens > 2.0


def test_the_standardisation_is_folded_into_raw_features() -> None:
    random = torch.Generator().manual_seed(0)
    labels = (torch.arange(200) % 2).float()
    features = torch.rand(200, 3, generator=random) + 5.0
    features[:, 1] = labels * 1e-3 + 7.0  # speaks softly, far from zero
    weights, bias = fit_logistic(features, labels, ridge=1e-3)
    scores = readout_scores(features, weights, bias)
    assert ((scores > 0) == (labels > 0.5)).all()


def test_a_unit_that_never_varies_gets_no_weight() -> None:
    labels = (torch.arange(100) % 2).float()
    features = torch.stack((labels + 0.5, torch.full((100,), 3.0)), dim=1)
    weights, _ = fit_logistic(features, labels, ridge=1e-2)
    assert weights[1].item() == 0.0


def test_rare_and_common_classes_weigh_the_same() -> None:
    # The feature says nothing: with balanced classes the evidence is even, whatever the shares.
    labels = torch.zeros(100)
    labels[:10] = 1.0
    weights, bias = fit_logistic(torch.ones(100, 1), labels, ridge=1e-2)
    assert float(bias + weights.sum()) == pytest.approx(0.0, abs=1e-3)


def test_the_fit_is_the_same_every_time() -> None:
    truth = planted_truth(rows=12)
    first, second = (fit_readout(planted_magnitudes(truth), truth, layer=1, tensor="gate") for _ in range(2))
    assert first.readout == second.readout
    assert first.boundaries.tolist() == second.boundaries.tolist()


def test_where_the_evidence_is_weak_a_cautious_readout_cuts_later() -> None:
    truth = planted_truth(rows=24)
    faint = [values.clone() for values in planted_magnitudes(truth)]
    for values, end, canvas in zip(faint, truth.end.tolist(), truth.canvas.tolist(), strict=True):
        if end < canvas:  # one slot before the end already looks half like fill
            values[end - 1, : UNITS // 2] *= 0.35
    fit = fit_readout(faint, truth, layer=1, tensor="gate", lost_end=0.0)
    assert fit.score.lost_end <= 0.1
    assert fit.score.cost_tokens < 1.0
