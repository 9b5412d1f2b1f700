from __future__ import annotations

import numpy as np
import pytest

from seer_core.probe.cost import FREE, WHOLE_STEP, Cost
from seer_core.tools.price import Price, head_layers
from seer_core.tools.scores import Truth
from tests.unit.probe.tiny import tiny_decoder

PRICE = Price(layers=4, head_layers=2.0, prompt_tokens=30.0, canvas_tokens=10.0)


@pytest.mark.parametrize(("cost", "expected"), [(FREE, 0.0), (Cost(layers=1), 10.0), (WHOLE_STEP, 45.0)])
def test_a_probe_costs_its_share_of_the_layers_over_prompt_and_canvas(cost: Cost, expected: float) -> None:
    assert PRICE.probe(cost) == expected


def test_a_kept_canvas_costs_its_length_for_each_of_its_steps() -> None:
    truth = Truth(canvas=np.array([10, 10]), end=np.array([2, 2]))
    assert PRICE.total(Cost(layers=1), np.array([2, -1]), truth, 1) == 10.0 + (4 * 4 + 10 * 10) / 2


def test_a_head_is_as_many_layers_as_its_arithmetic() -> None:
    # Width 32, half as many key heads, an MLP of 48: 3 * 32 * 32 + 3 * 32 * 48 products a position; the head 32 * 32.
    assert head_layers(tiny_decoder().config) == pytest.approx(1024 / (3072 + 4608))
