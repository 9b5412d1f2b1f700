from __future__ import annotations

from dataclasses import replace

import pytest

from seer_core.probe.cost import WHOLE_STEP, Cost
from seer_core.tools.rivals.cost_model import LLADA_8B, Looks, at_depth, model_positions

LOOKS = Looks(canvas_tokens=100.0)


def test_a_request_pays_for_its_prompt_its_probe_and_its_denoising() -> None:
    found = model_positions(LLADA_8B, 1000.0, Cost(layers=4), LOOKS, 250.0)
    assert found == 1000 + 4 * (1000 + 100) / 32 + 250


def test_a_second_look_runs_the_prompt_again() -> None:
    found = model_positions(LLADA_8B, 1000.0, Cost(layers=4), Looks(canvas_tokens=120.0, times=1.5), 250.0)
    assert found == 1000 + 4 * (1500 + 120) / 32 + 250


def test_with_32_layers_an_early_tap_is_cheaper_than_a_whole_step_less_so_where_keys_are_kept() -> None:
    ratios = [
        model_positions(LLADA_8B, 1000.0, WHOLE_STEP, LOOKS, 250.0, keys_kept=kept)
        / model_positions(LLADA_8B, 1000.0, Cost(layers=4), LOOKS, 250.0, keys_kept=kept)
        for kept in (False, True)
    ]
    assert ratios == [pytest.approx(1.73, abs=0.05), pytest.approx(1.08, abs=0.02)]


def test_at_the_same_depth_a_tap_lies_at_the_same_share_of_the_layers() -> None:
    small = replace(LLADA_8B, layers=8)
    assert at_depth(Cost(layers=4), small, LLADA_8B) == Cost(layers=16)
    assert at_depth(WHOLE_STEP, small, LLADA_8B) == WHOLE_STEP
