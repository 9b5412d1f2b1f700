"""How much truncation saves on this machine: the same questions with and without, taking turns in one run.

Ratios inside one run are the message; a machine's own speed drifts and is only context.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np
from tqdm import tqdm

from seer_core.pipeline import Pipeline
from seer_core.tools.evaluate import Sample
from seer_core.types import Decoding, GenerationRequest, Message, Sampling

Row = dict[str, object]

MODES: dict[str, Decoding] = {
    "fixed": Decoding(truncate=False, early_exit=False),
    "fixed_early_exit": Decoding(truncate=False),
    "seer": Decoding(),
}
"""The whole canvas to its last position; the same, left when the answer is complete; a forecast canvas."""


def bench(
    pipeline: Pipeline, samples: Sequence[Sample], *, canvases: Sequence[int], rounds: int = 3, progress: bool = True
) -> list[Row]:
    """One row per canvas and mode: median seconds of a round over all samples, encoding and probing included."""
    cells = [(canvas, mode) for canvas in canvases for mode in MODES]
    timed: dict[tuple[int, str], list[float]] = {cell: [] for cell in cells}
    steps: dict[tuple[int, str], int] = {}
    tokens: dict[tuple[int, str], int] = {}
    order = [cell for _ in range(rounds) for cell in cells]
    for canvas, mode in tqdm(order, desc="rounds", unit="cell", disable=not progress):
        requests = [_request(index, sample, canvas, MODES[mode]) for index, sample in enumerate(samples)]
        start = time.perf_counter()
        outcomes = pipeline.generate(requests)
        timed[canvas, mode].append(time.perf_counter() - start)
        steps[canvas, mode] = sum(outcome.steps for outcome in outcomes)
        tokens[canvas, mode] = sum(outcome.usage.completion_tokens for outcome in outcomes)
    return [_row(canvas, mode, timed, steps, tokens) for canvas, mode in cells]


def _row(
    canvas: int,
    mode: str,
    timed: dict[tuple[int, str], list[float]],
    steps: dict[tuple[int, str], int],
    tokens: dict[tuple[int, str], int],
) -> Row:
    seconds = float(np.median(timed[canvas, mode]))
    speed, fixed = tokens[canvas, mode] / seconds, tokens[canvas, "fixed"] / float(np.median(timed[canvas, "fixed"]))
    return {
        "mode": mode,
        "canvas": canvas,
        "seconds": round(seconds, 3),
        "steps": steps[canvas, mode],
        "valid_tokens_per_s": round(speed, 2),
        "ratio_to_fixed": round(speed / fixed, 2) if fixed else None,
    }


def _request(index: int, sample: Sample, canvas_tokens: int, decoding: Decoding) -> GenerationRequest:
    return GenerationRequest(
        id=f"bench-{index}",
        messages=(Message(role="user", text=sample.prompt, images=(sample.image,)),),
        sampling=Sampling(max_tokens=canvas_tokens),
        decoding=decoding,
    )
