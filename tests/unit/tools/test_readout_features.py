"""What a readout may read of a tensor."""

from __future__ import annotations

import pytest
import torch

from seer_core.tools.readout_features import FEATURES, quantile

VALUES = [torch.tensor([[-1.0, 2.0], [3.0, -4.0]]), torch.tensor([[-5.0, 6.0]])]


def test_every_kind_gives_each_row_its_positions() -> None:
    for make in FEATURES.values():
        assert [len(one) for one in make(VALUES)] == [2, 1]


def test_only_the_signed_keep_their_signs() -> None:
    assert FEATURES["magnitude"](VALUES)[0].tolist() == [[1.0, 2.0], [3.0, 4.0]]
    assert FEATURES["signed"](VALUES)[0].tolist() == [[-1.0, 2.0], [3.0, -4.0]]


def test_eps_leaves_the_stated_share_quiet() -> None:
    values = [torch.linspace(-1.0, 1.0, 1000).reshape(100, 10)]
    assert float(FEATURES["quiet_30"](values)[0].mean()) == pytest.approx(0.3, abs=0.01)
    assert quantile(values, 0.8) == pytest.approx(0.8, abs=0.01)


def test_a_position_is_told_apart_by_where_it_lies_in_its_own_canvas() -> None:
    first, second = FEATURES["with_position"](VALUES)
    assert first.shape == (2, 3)
    assert first[0, 2] == second[0, 2] < first[1, 2]


def test_a_logarithm_of_nothing_is_finite() -> None:
    assert all(one.isfinite().all() for one in FEATURES["log"]([torch.zeros(2, 2), torch.ones(3, 2)]))
