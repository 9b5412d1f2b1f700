"""A checkpoint's parts as an operator configures them."""

from __future__ import annotations

import pytest
import torch

from deployments.app import AppArgs
from seer_core.engine.row import Row
from seer_core.probe.detectors import whole_canvas
from seer_core.prompt import EncodedPrompt
from seer_core.types import Decoding, Sampling

CANVAS, WIDTH = 12, 128


@pytest.mark.parametrize(
    ("args", "commit", "several"),
    [
        ({}, None, False),
        ({"commit": "threshold", "commit_threshold": 1e-6}, None, True),
        ({"commit": "threshold", "commit_threshold": 1e-6}, "schedule", False),
        ({"commit_threshold": 1e-6}, "threshold", True),
    ],
)
def test_a_step_commits_what_the_service_says_unless_the_request_does(
    args: dict[str, object], commit: str | None, *, several: bool
) -> None:
    engine = AppArgs.model_validate(args).parts().engine(max_rows=1)
    engine.admit([_row(Decoding(commit=commit, early_exit=False))])
    steps = next(delta.outcome.steps for _ in range(CANVAS) for delta in engine.step() if delta.outcome is not None)
    assert (steps < CANVAS) == several


def _row(decoding: Decoding) -> Row:
    return Row(
        id="r",
        prompt=EncodedPrompt(embeddings=torch.zeros(3, WIDTH)),
        forecast=whole_canvas(CANVAS),
        sampling=Sampling(max_tokens=CANVAS),
        decoding=decoding,
    )
