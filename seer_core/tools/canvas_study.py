"""Does a longer canvas shorten answers, and does the forecast follow? The same questions on canvases of many lengths.

Every question is foreseen and answered untruncated on each canvas. Lengths are slots before the first end token; a
canvas that is full without one has its own length.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from seer_core.probe.detectors import whole_canvas
from seer_core.tools.picture import picture
from seer_core.tools.stages import Stages, batches, end_slot
from seer_core.types import Forecast, GenerationRequest

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Row = dict[str, Any]
BATCH_ROWS = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Lengths:
    """Of each question on one canvas: the untruncated answer's length, and the predicted one."""

    answer: list[int]
    predicted: list[int]


def study_canvases(
    stages: Stages, requests: Sequence[GenerationRequest], canvases: Sequence[int], *, progress: bool = True
) -> list[Row]:
    """A row per canvas: how many answers end inside it, and mean lengths of those that do on every canvas."""
    seen: dict[int, Lengths] = {}
    with tqdm(total=len(canvases) * len(requests), desc="canvases", unit="row", disable=not progress) as bar:
        for canvas in sorted(canvases):
            seen[canvas] = _lengths(stages, requests, canvas, bar)
    return _rows(seen)


def plot_canvases(rows: Sequence[Row], path: Path) -> None:
    """Mean lengths against the canvas. Raises `ConfigError` where matplotlib is not installed."""
    with picture(path, size_in=(5.2, 3.2)) as figure:
        axes: Axes = figure.subplots()
        canvases = [row["canvas"] for row in rows]
        axes.plot(canvases, [row["mean_answer_tokens"] for row in rows], marker="o", label="untruncated answer")
        predicted = [row["mean_predicted_tokens"] for row in rows]
        axes.plot(canvases, predicted, marker="s", linestyle="--", label="predicted at step 0")
        axes.set_xscale("log", base=2)
        axes.set_xticks(canvases, [str(canvas) for canvas in canvases])
        axes.set_xlabel("canvas, tokens")
        axes.set_ylabel("mean length, tokens")
        axes.set_ylim(bottom=0)
        axes.legend()


def _lengths(stages: Stages, requests: Sequence[GenerationRequest], canvas: int, bar: tqdm[Any]) -> Lengths:
    answer: list[int] = []
    predicted: list[int] = []
    for batch in batches([_untruncated(request, canvas) for request in requests], BATCH_ROWS):
        prompts = stages.encode(batch)
        asked = [replace(request.decoding, truncate=True) for request in batch]
        forecasts = stages.probe.forecast(prompts, [canvas] * len(batch), asked)
        outcomes = stages.run(batch, prompts, [whole_canvas(canvas)] * len(batch))
        predicted += map(_foreseen, forecasts)
        ends = map(end_slot, outcomes)
        answer += [canvas if end is None else end for end in ends]
        bar.update(len(batch))
    return Lengths(answer=answer, predicted=predicted)


def _untruncated(request: GenerationRequest, canvas: int) -> GenerationRequest:
    sampling = replace(request.sampling, max_tokens=canvas, stop=())
    return replace(request, sampling=sampling, decoding=replace(request.decoding, truncate=False))


def _foreseen(forecast: Forecast) -> int:
    return forecast.canvas_tokens if forecast.boundary is None else forecast.boundary


def _rows(seen: dict[int, Lengths]) -> list[Row]:
    answers = np.array([lengths.answer for lengths in seen.values()])  # [canvases, rows]
    predicted = np.array([lengths.predicted for lengths in seen.values()])
    widths = np.array(list(seen))[:, None]
    everywhere = (answers < widths).all(0)
    longest = answers[-1]
    return [
        {
            "canvas": canvas,
            "rows": int(answers.shape[1]),
            "ended_inside": int((answers[index] < canvas).sum()),
            "rows_ended_everywhere": int(everywhere.sum()),
            "mean_answer_tokens": _mean(answers[index][everywhere]),
            "mean_predicted_tokens": _mean(predicted[index][everywhere]),
            "same_length_as_longest_canvas": _mean((answers[index] == longest)[everywhere]),
        }
        for index, canvas in enumerate(seen)
    ]


def _mean(values: NDArray[Any]) -> float | None:
    return round(float(values.mean()), 4) if values.size else None
