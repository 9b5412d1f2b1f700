"""Speed cells: every method once over the same rows, one after the other, for one canvas, batch and round.

Ratios are taken inside a cell, so that a machine's drift cancels; the table shows their medians over the rounds. Wall
clock and the process's own CPU time are both kept: where others use the machine too, the second says what they took.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from seer_core.tools.evaluate import Sample
from seer_core.tools.rivals.cells import Cell
from seer_core.tools.rivals.meter import metered
from seer_core.tools.rivals.methods import BASELINE, ORACLE, Method
from seer_core.tools.rivals.quality import requests_of
from seer_core.tools.rivals.track import Track
from seer_core.tools.stages import batches

Record = dict[str, Any]

ENCODING = "encoding"

QUICK_S, MORE = 3.0, 2
"""A method that takes less than so many seconds is run so many times more in its cell, in turns again: a burst of
others' work is as long as its whole run."""


def speed_name(rows: int, canvas: int, batch: int, turn: int) -> str:
    """The name of a cell of so many rows."""
    return f"speed-{rows}-{canvas}-{batch}-{turn}"


def speed_cell(
    track: Track, methods: Sequence[Method], samples: Sequence[Sample], canvas: int, ends: Sequence[int | None]
) -> Cell:
    """What each method took, encoding and probing included; what encoding alone takes is under `ENCODING`."""
    passes = [{method.name: _timed(track, method, samples, canvas, ends) for method in methods}]
    quick = [method for method in methods if passes[0][method.name]["seconds"] < QUICK_S]
    passes += [{method.name: _timed(track, method, samples, canvas, ends) for method in quick} for _ in range(MORE)]
    cell = {method.name: _median([one[method.name] for one in passes if method.name in one]) for method in methods}
    start, cpu_start = time.perf_counter(), time.process_time()
    for batch in batches(requests_of(samples, canvas), track.rows):
        track.stages.encode(batch)
    spent = {"seconds": time.perf_counter() - start, "cpu_seconds": time.process_time() - cpu_start}
    return {**cell, ENCODING: spent}


def speed_of(cells: Sequence[Cell], method: str) -> Record:
    """The method's medians over rounds; steps and positions are means of a request."""
    own = [cell[method] for cell in cells]
    requests = own[0]["requests"]
    return {
        "rounds": len(own),
        "speed_rows": requests,
        "steps": own[0]["steps"] / requests,
        "positions": own[0]["positions"] / requests,
        "head_positions": own[0]["head_positions"] / requests,
        "seconds": float(np.median([one["seconds"] for one in own])),
        "encoding_share": float(
            np.median([cell[ENCODING]["cpu_seconds"] / cell[method]["cpu_seconds"] for cell in cells])
        ),
        "valid_tokens_per_s": float(np.median([_rate(one, "seconds") for one in own])),
        "requests_per_s": float(np.median([requests / one["seconds"] for one in own])),
        "ratio_to_baseline": _ratio(cells, method, BASELINE, "seconds"),
        "ratio_to_oracle": _ratio(cells, method, ORACLE, "seconds"),
        "cpu_ratio_to_baseline": _ratio(cells, method, BASELINE, "cpu_seconds"),
        "cpu_ratio_to_oracle": _ratio(cells, method, ORACLE, "cpu_seconds"),
        "ratio_to": {other: _ratio(cells, method, other, "seconds") for other in _others(cells, method)},
        "cpu_ratio_to": {other: _ratio(cells, method, other, "cpu_seconds") for other in _others(cells, method)},
    }


def _others(cells: Sequence[Cell], method: str) -> list[str]:
    return [name for name in cells[0] if name not in (method, ENCODING)]


def _timed(track: Track, method: Method, samples: Sequence[Sample], canvas: int, ends: Sequence[int | None]) -> Record:
    requests = requests_of(samples, canvas)
    with metered(track.stages.probe.model.decoder) as meter:
        start, cpu_start = time.perf_counter(), time.process_time()
        outcomes = [attempt.outcome for attempt in track.attempt(method, requests, ends)]
        seconds, cpu_seconds = time.perf_counter() - start, time.process_time() - cpu_start
    return {
        "requests": len(outcomes),
        "seconds": seconds,
        "cpu_seconds": cpu_seconds,
        "tokens": sum(outcome.usage.completion_tokens for outcome in outcomes),
        "steps": sum(outcome.steps for outcome in outcomes),
        "positions": meter.positions,
        "head_positions": meter.head_positions,
    }


def _median(records: Sequence[Record]) -> Record:
    """The first of several runs of the same, with the clocks' medians."""
    clocks = {clock: float(np.median([one[clock] for one in records])) for clock in ("seconds", "cpu_seconds")}
    return {**records[0], **clocks}


def _ratio(cells: Sequence[Cell], method: str, other: str, clock: str) -> float | None:
    """Median over rounds of how many times as many valid tokens a second the method makes as the other."""
    ratios = [
        _rate(cell[method], clock) / rate for cell in cells if other in cell and (rate := _rate(cell[other], clock))
    ]
    return float(np.median(ratios)) if ratios else None


def _rate(record: Record, clock: str) -> float:
    return float(record["tokens"] / record[clock])
