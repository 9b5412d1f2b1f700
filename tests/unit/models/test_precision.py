"""Whether a CPU is as fast in bfloat16 is measured, not guessed."""

from __future__ import annotations

import pytest
import torch

from seer_core.models import precision
from seer_core.models.precision import bfloat16_keeps_up, product_seconds


@pytest.mark.parametrize(
    ("float32", "bfloat16", "answer"), [(1e-3, 5e-4, True), (1e-3, 1e-3, True), (1e-3, 2e-3, False)]
)
def test_the_faster_dtype_wins_and_a_tie_goes_to_the_smaller(
    monkeypatch: pytest.MonkeyPatch, float32: float, bfloat16: float, answer: bool
) -> None:
    seconds = {torch.float32: float32, torch.bfloat16: bfloat16}
    monkeypatch.setattr(precision, "product_seconds", seconds.__getitem__)
    assert bfloat16_keeps_up() is answer


def test_a_product_takes_time() -> None:
    assert 0 < product_seconds(torch.float32) < 1
