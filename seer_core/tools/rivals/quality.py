"""Quality cells: what a method answers on some rows of one canvas, and what the table says of it.

Every method is held against the untruncated run of the same rows, which is the cell of the baseline.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from seer_core.tools.answer_metrics import metric_named
from seer_core.tools.evaluate import Sample
from seer_core.tools.rivals.cells import Cell
from seer_core.tools.rivals.methods import Method
from seer_core.tools.rivals.track import Attempt, Track
from seer_core.tools.scores import wilson_upper
from seer_core.types import GenerationRequest, Message, Sampling

Record = dict[str, Any]


def quality_name(canvas: int, method: str, rows: range) -> str:
    """The name of a cell."""
    return f"quality-{canvas}-{method}-{rows.start}-{rows.stop}"


def quality_cell(
    track: Track, method: Method, samples: Sequence[Sample], canvas: int, whole: Cell | None, seer: Cell | None
) -> Cell:
    """The rows' records; `whole` is the baseline's cell, None where this is it.

    A plain method's rows are taken from Seer's cell, `seer`, where both foresee the same length: they are the same run.
    The baseline's leave as soon as their answer is complete, which changes no answer; what it costs to go on is for the
    speed cells to say.
    """
    method = replace(method, decoding=replace(method.decoding, early_exit=True))
    ends = [None] * len(samples) if whole is None else [end_of(record) for record in whole["rows"]]
    requests = requests_of(samples, canvas)
    if seer is None or not method.plain:
        attempts = track.attempt(method, requests, ends)
        return {"rows": [_record(attempt, sample) for attempt, sample in zip(attempts, samples, strict=True)]}
    foreseen = track.foresee(method, requests, ends)
    records = [{**known, "boundary": f.forecast.boundary} for known, f in zip(seer["rows"], foreseen, strict=True)]
    other = [row for row, f in enumerate(foreseen) if f.forecast.length_tokens != records[row]["foreseen"]]
    for row, outcome in zip(other, track.run([foreseen[row] for row in other]), strict=True):
        attempt = Attempt(outcome=outcome, boundary=foreseen[row].forecast.boundary)
        records[row] = _record(attempt, samples[row])
    return {"rows": records}


def requests_of(samples: Sequence[Sample], canvas: int) -> list[GenerationRequest]:
    """The samples' questions, each on a canvas of `canvas` tokens."""
    return [
        GenerationRequest(
            id=f"bench-{index}",
            messages=(Message(role="user", text=sample.prompt, images=(sample.image,)),),
            sampling=Sampling(max_tokens=canvas),
        )
        for index, sample in enumerate(samples)
    ]


def end_of(record: Record) -> int | None:
    """Slot of the first end token of a baseline's record; None where the canvas was full before one came."""
    return len(record["tokens"]) if record["ended"] else None


def quality_of(records: Sequence[Record], whole: Sequence[Record], canvas: int) -> Record:
    """The numbers of a method's records beside the baseline's of the same rows; None where there is nothing to average.

    A row is over-truncated where its canvas began shorter than the untruncated answer, and after repair where its final
    answer is shorter.
    """
    pairs = list(zip(records, whole, strict=True))
    ends = [canvas if end_of(record) is None else len(record["tokens"]) for record in whole]
    found = [(r["boundary"], end) for r, end in zip(records, ends, strict=True) if r["boundary"] is not None]
    cut = [(r, w) for (r, w), end in zip(pairs, ends, strict=True) if r["foreseen"] < end]
    shorter = sum(len(r["tokens"]) < len(w["tokens"]) for r, w in pairs)
    return {
        "quality_rows": len(pairs),
        "score": _mean([r["right"] for r in records]),
        "exact_agreement": _mean([r["tokens"] == w["tokens"] for r, w in pairs]),
        "boundary_mae_tokens": _mean([abs(boundary - end) for boundary, end in found]),
        "detection_rate": _mean([r["boundary"] is not None for r, w in pairs if w["ended"]]),
        "over_truncation": len(cut) / len(pairs),
        "over_truncation_wilson": wilson_upper(len(cut), len(pairs)),
        "over_truncation_after_repair": shorter / len(pairs),
        "over_truncation_after_repair_rows": shorter,
        "cut_short_rows": len(cut),
        "agreement_cut_short": _mean([r["tokens"] == w["tokens"] for r, w in cut]),
        "regrow_rate": _mean([r["regrown"] > 0 for r in records]),
        "kept_tokens": _mean([r["kept"] for r in records]),
    }


def _record(attempt: Attempt, sample: Sample) -> Record:
    outcome = attempt.outcome
    return {
        "tokens": list(outcome.tokens),
        "ended": outcome.finish_reason == "stop",
        "right": metric_named(sample.metric)(outcome.text, sample.answers, sample.choices),
        "boundary": attempt.boundary,
        "foreseen": outcome.forecast_tokens,
        "kept": outcome.kept_tokens,
        "regrown": outcome.regrown,
    }


def _mean(values: Sequence[float]) -> float | None:
    return float(np.mean(values)) if len(values) else None
