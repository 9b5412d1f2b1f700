from __future__ import annotations

import numpy as np
import pytest

from seer_core.probe.cost import WHOLE_STEP, Cost
from seer_core.tools.rivals.cost_model import LLADA_8B, model_positions
from seer_core.tools.scores import Truth

TRUTH = Truth(canvas=np.full(2, 100), end=np.array([9, 19]))
ENDS = np.array([9, 19])


def test_a_request_pays_for_its_prompt_its_probe_and_its_denoising() -> None:
    found = model_positions(LLADA_8B, 1000.0, Cost(layers=4), ENDS, TRUTH, 0)
    assert found == 1000 + 4 * (1000 + 100) / 32 + (10**2 + 20**2) / 2


def test_with_32_layers_an_early_tap_is_far_cheaper_than_a_whole_step_and_its_head() -> None:
    early, whole = (model_positions(LLADA_8B, 1000.0, cost, ENDS, TRUTH, 0) for cost in (Cost(layers=4), WHOLE_STEP))
    assert whole / early == pytest.approx(1.73, abs=0.05)
