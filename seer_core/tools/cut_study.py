"""What does a cut cost that comes too early? Canvases are begun shorter than their answers on purpose.

The shipped detector cuts next to nothing, so that its own mistakes say nothing of what re-extension repairs. Here every
answer long enough loses its last tokens, and the run has to find them again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from tqdm import tqdm

from seer_core.probe.detectors import forecast_from, whole_canvas
from seer_core.probe.statistic import Evidence
from seer_core.prompt import EncodedPrompt
from seer_core.tools.stages import Stages, batches
from seer_core.types import Forecast, GenerationRequest, Outcome

Row = dict[str, Any]
Asked = tuple[GenerationRequest, EncodedPrompt, Outcome]

BATCH_ROWS = 16


def study_cuts(
    stages: Stages, requests: Sequence[GenerationRequest], cuts: Sequence[int], *, progress: bool = True
) -> list[Row]:
    """A row per number of tokens that are missing at the start, over the answers that have more than so many.

    `agreement` is the share of them that end as the untruncated run does, token by token; `still_shorter` of those
    whose final answer is shorter, `regrown` of those that grew.
    """
    asked: list[Asked] = []
    with tqdm(total=len(requests) * (1 + len(cuts)), desc="cuts", unit="row", disable=not progress) as bar:
        for batch in batches([_untruncated(request) for request in requests], BATCH_ROWS):
            prompts = stages.encode(batch)
            whole = stages.run(batch, prompts, [whole_canvas(request.sampling.max_tokens) for request in batch])
            asked += zip(batch, prompts, whole, strict=True)
            bar.update(len(batch))
        rows = []
        for cut in cuts:
            rows.append(_row(stages, [one for one in asked if len(one[2].tokens) > cut], cut))
            bar.update(len(requests))
    return rows


def _row(stages: Stages, asked: Sequence[Asked], cut: int) -> Row:
    pairs: list[tuple[Outcome, Outcome]] = []
    for batch in batches(asked, BATCH_ROWS):
        requests, prompts, whole = zip(*batch, strict=True)
        forecasts = [
            _kept(stages, one, len(outcome.tokens) - cut) for one, outcome in zip(requests, whole, strict=True)
        ]
        pairs += zip(stages.run(requests, prompts, forecasts), whole, strict=True)
    return {
        "cut_tokens": cut,
        "rows": len(pairs),
        "agreement": _share([found.tokens == whole.tokens for found, whole in pairs]),
        "still_shorter": _share([len(found.tokens) < len(whole.tokens) for found, whole in pairs]),
        "regrown": _share([found.regrown > 0 for found, _ in pairs]),
    }


def _kept(stages: Stages, request: GenerationRequest, tokens: int) -> Forecast:
    return forecast_from(Evidence(canvas_tokens=request.sampling.max_tokens), stages.probe.profile, f"fixed:{tokens}")


def _untruncated(request: GenerationRequest) -> GenerationRequest:
    sampling = replace(request.sampling, stop=())
    return replace(request, sampling=sampling, decoding=replace(request.decoding, truncate=False))


def _share(values: Sequence[bool]) -> float | None:
    return round(sum(values) / len(values), 4) if values else None
