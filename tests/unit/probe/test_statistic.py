from __future__ import annotations

import json
import math
from dataclasses import asdict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seer_core.probe.statistic import FLAT, Evidence, jumps, sampling_noise, step_at


def test_jump_and_noise_are_those_of_the_window_and_its_left_neighbour() -> None:
    jump, noise = jumps(np.array([0.1, 0.5, 0.25, 0.75, 0.75]), 3)
    assert jump.tolist() == pytest.approx([0.25 - 0.1, 0.25 - 0.5])
    assert noise.tolist() == pytest.approx([0.5, 0.5])


def test_many_curves_at_once_give_the_same_as_one_by_one() -> None:
    curves = np.random.default_rng(0).random((3, 4, 9))
    jump, noise = jumps(curves, 3)
    for row in range(3):
        for column in range(4):
            alone = jumps(curves[row, column], 3)
            assert np.array_equal(jump[row, column], alone[0])
            assert np.array_equal(noise[row, column], alone[1])


def test_a_short_curve_has_no_steps() -> None:
    assert all(values.shape == (2, 0) for values in jumps(np.zeros((2, 3)), 3))


@pytest.mark.parametrize("position", [None, 0, 6, 7])
def test_where_no_window_fits_the_step_is_flat(position: int | None) -> None:
    assert step_at(Evidence(canvas_tokens=8, sparsity=np.linspace(0, 1, 8), units=64), position, 3) == FLAT


def test_a_noiseless_plateau_is_measured_against_the_sampling_noise() -> None:
    step = step_at(Evidence(canvas_tokens=4, sparsity=np.array([0.0, 0.5, 0.5, 0.5]), units=100), 1, 3)
    assert step.noise == 0.0
    assert step.snr == pytest.approx(0.5 / 0.05)


def test_the_sampling_noise_matches_the_published_floors() -> None:
    assert sampling_noise(0.3, 12288) == pytest.approx(0.004, abs=5e-4)
    assert sampling_noise(0.3, 512) == pytest.approx(0.020, abs=5e-4)


@given(st.lists(st.sampled_from([0.0, 0.25, 1.0]), min_size=4, max_size=12), st.integers(1, 12), st.integers(1, 9))
def test_every_step_is_finite_and_fits_in_json(s: list[float], position: int, units: int) -> None:
    step = step_at(Evidence(canvas_tokens=len(s), sparsity=np.array(s), units=units), position, 3)
    assert all(math.isfinite(value) for value in asdict(step).values())
    json.dumps(asdict(step), allow_nan=False)
