from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from seer_core.prompt import EncodedPrompt
from seer_core.tools.rivals.methods import METHODS
from seer_core.tools.rivals.speed import MORE, speed_cell, speed_of
from seer_core.types import GenerationRequest
from tests.unit.tools.rivals.tiny_track import TinyStages, tiny_samples, tiny_track


def timed(seconds: float, tokens: int = 100) -> dict[str, Any]:
    clocks = {"seconds": seconds, "cpu_seconds": 2 * seconds}
    return {"requests": 4, "tokens": tokens, "steps": 40, "positions": 80.0, "head_positions": 8, **clocks}


def test_ratios_are_taken_inside_a_round_so_that_drift_cancels() -> None:
    rounds = [
        {"fixed": timed(f * 10.0), "seer": timed(f * 2.0), "oracle": timed(f * 1.0), "encoding": timed(f * 0.5)}
        for f in (1, 7, 3)
    ]
    found = speed_of(rounds, "seer")
    assert (found["ratio_to_baseline"], found["ratio_to_oracle"]) == (pytest.approx(5.0), pytest.approx(0.5))
    assert (found["steps"], found["positions"], found["head_positions"]) == (10.0, 20.0, 2.0)
    assert found["ratio_to"] == {"fixed": pytest.approx(5.0), "oracle": pytest.approx(0.5)}
    assert found["encoding_share"] == pytest.approx(0.25)
    assert found["valid_tokens_per_s"] == pytest.approx(100 / 6)


def test_fewer_valid_tokens_in_the_same_time_are_slower() -> None:
    found = speed_of([{"fixed": timed(1.0), "seer": timed(1.0, tokens=50), "encoding": timed(0.1)}], "seer")
    assert (found["ratio_to_baseline"], found["ratio_to_oracle"]) == (0.5, None)


class Counting(TinyStages):
    """Knows how often prompts were encoded."""

    encodings = 0

    def encode(self, requests: Sequence[GenerationRequest]) -> list[EncodedPrompt]:
        self.encodings += 1
        return super().encode(requests)


def test_quick_methods_take_turns_again_and_steps_are_those_of_one_run() -> None:
    stages = Counting(2)
    track = replace(tiny_track(2), stages=stages)
    cell = speed_cell(track, [METHODS["fixed"], METHODS["seer"]], tiny_samples(2), 8, [None, None])
    assert stages.encodings == 2 * (1 + MORE) + 1  # and encoding alone, once
    assert (cell["fixed"]["requests"], cell["fixed"]["steps"]) == (2, 16)
    assert cell["encoding"]["seconds"] > 0
