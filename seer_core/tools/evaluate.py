"""Does truncation change the answers? Each sample runs on its whole canvas, under the detector, and under the oracle,
which cuts at the true end of the untruncated run with the same margin.

Knows no data set: samples are handed in.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from tqdm import tqdm

from seer_core.errors import ConfigError
from seer_core.probe.boundary import kept_tokens
from seer_core.probe.detectors import whole_canvas
from seer_core.tools.scores import NO_BOUNDARY, Truth, score
from seer_core.tools.stages import Stages, batches, end_slot
from seer_core.types import Decoding, Forecast, GenerationRequest, Message, Outcome, Sampling

Summary = dict[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """A question with its right answer. `image` is an encoded file, `kind` the sort of question."""

    image: bytes
    prompt: str
    answer: str
    kind: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """One sample under the three regimes. `end` is the slot of the first end token, N where there is none."""

    sample: Sample
    end: int
    forecast: Forecast
    whole: Outcome
    seer: Outcome
    oracle: Outcome

    @property
    def cut_short(self) -> bool:
        """L* < e: the canvas was cut inside the answer."""
        return self.forecast.length_tokens < self.end


def evaluate(
    stages: Stages,
    samples: Sequence[Sample],
    *,
    canvas_tokens: int,
    decoding: Decoding | None = None,
    batch_rows: int = 16,
    progress: bool = True,
) -> Summary:
    """Scores over all samples at one canvas length, as plain JSON values. Ratios are between 0 and 1."""
    if not samples:
        raise ConfigError("nothing to evaluate: no samples", field="count")
    trials: list[Trial] = []
    with tqdm(total=len(samples), desc=f"canvas {canvas_tokens}", unit="row", disable=not progress) as bar:
        for batch in batches(samples, batch_rows):
            trials += run_trials(stages, batch, canvas_tokens, decoding if decoding is not None else Decoding())
            bar.update(len(batch))
    return summarise(trials, canvas_tokens)


def run_trials(stages: Stages, samples: Sequence[Sample], canvas_tokens: int, decoding: Decoding) -> list[Trial]:
    """All three regimes for one batch. The oracle's row is run only where its canvas differs from the detector's."""
    requests = [_request(index, sample, canvas_tokens, decoding) for index, sample in enumerate(samples)]
    prompts = stages.encode(requests)
    canvases, decodings = [canvas_tokens] * len(samples), [decoding] * len(samples)
    untruncated = [replace(request, decoding=replace(decoding, truncate=False, detector=None)) for request in requests]
    whole = stages.run(untruncated, prompts, [whole_canvas(canvas) for canvas in canvases])
    forecasts = stages.probe.forecast(prompts, canvases, decodings)
    seer = stages.run(requests, prompts, forecasts)
    slots = [end_slot(outcome) for outcome in whole]
    truths = [oracle_forecast(f, slot, _margin(stages, f)) for f, slot in zip(forecasts, slots, strict=True)]
    other = [row for row, truth in enumerate(truths) if truth.length_tokens != forecasts[row].length_tokens]
    rerun = stages.run(
        [requests[row] for row in other], [prompts[row] for row in other], [truths[row] for row in other]
    )
    oracle = {**dict(enumerate(seer)), **dict(zip(other, rerun, strict=True))}
    ends = [canvas_tokens if slot is None else slot for slot in slots]
    return [
        Trial(sample=samples[i], end=ends[i], forecast=forecasts[i], whole=whole[i], seer=seer[i], oracle=oracle[i])
        for i in range(len(samples))
    ]


def oracle_forecast(forecast: Forecast, end: int | None, margin_tokens: int) -> Forecast:
    """The forecast a detector would have made that knew the untruncated answer's end, under the same margin."""
    length = kept_tokens(end, forecast.canvas_tokens, margin_tokens)
    return replace(
        whole_canvas(forecast.canvas_tokens),
        length_tokens=length,
        boundary=end,
        detector="oracle",
        fallback=end is None,
    )


def summarise(trials: Sequence[Trial], canvas_tokens: int) -> Summary:
    """The numbers of the trials; `None` where nothing was there to be averaged."""
    boundaries = [trial.forecast.boundary for trial in trials]
    found = np.array([NO_BOUNDARY if boundary is None else boundary for boundary in boundaries])
    truth = Truth(canvas=np.full(len(trials), canvas_tokens), end=np.array([trial.end for trial in trials]))
    boundary = score(found, truth)
    shorter = sum(len(trial.seer.tokens) < len(trial.whole.tokens) for trial in trials)
    return {
        "count": len(trials),
        "canvas": canvas_tokens,
        "detector": trials[0].forecast.detector,
        "exact_match_untruncated": _mean([_exact(trial.whole, trial) for trial in trials]),
        "exact_match": _mean([_exact(trial.seer, trial) for trial in trials]),
        "paired_agreement": _mean([trial.seer.tokens == trial.whole.tokens for trial in trials]),
        "paired_agreement_oracle": _mean([trial.oracle.tokens == trial.whole.tokens for trial in trials]),
        "paired_agreement_cut_short": _mean([t.seer.tokens == t.whole.tokens for t in trials if t.cut_short]),
        "boundary_mae_tokens": boundary.mae_tokens,
        "detection_rate": boundary.detection_rate,
        "over_truncation": _mean([trial.cut_short for trial in trials]),
        "over_truncation_after_repair": shorter / len(trials),
        "over_truncation_after_repair_rows": shorter,
        "regrow_rate": _mean([trial.seer.regrown > 0 for trial in trials]),
        "margin_cost_tokens": _mean([_margin_cost(trial.forecast) for trial in trials]),
        "answer_tokens": _mean([len(trial.whole.tokens) for trial in trials]),
        "kept_tokens": _mean([trial.seer.kept_tokens for trial in trials]),
        "steps_untruncated": _mean([trial.whole.steps for trial in trials]),
        "steps": _mean([trial.seer.steps for trial in trials]),
        "per_kind": {kind: _of_kind(trials, kind) for kind in sorted({trial.sample.kind for trial in trials})},
    }


def _request(index: int, sample: Sample, canvas_tokens: int, decoding: Decoding) -> GenerationRequest:
    return GenerationRequest(
        id=f"evaluate-{index}",
        messages=(Message(role="user", text=sample.prompt, images=(sample.image,)),),
        sampling=Sampling(max_tokens=canvas_tokens),
        decoding=decoding,
    )


def _margin(stages: Stages, forecast: Forecast) -> int:
    return stages.probe.profile.margin_of(forecast.detector)


def _margin_cost(forecast: Forecast) -> int:
    return forecast.length_tokens - kept_tokens(forecast.boundary, forecast.canvas_tokens, 0)


def _exact(outcome: Outcome, trial: Trial) -> bool:
    return outcome.text.strip() == trial.sample.answer.strip()


def _of_kind(trials: Sequence[Trial], kind: str) -> Summary:
    chosen = [trial for trial in trials if trial.sample.kind == kind]
    return {
        "count": len(chosen),
        "exact_match_untruncated": _mean([_exact(trial.whole, trial) for trial in chosen]),
        "exact_match": _mean([_exact(trial.seer, trial) for trial in chosen]),
    }


def _mean(values: Sequence[float]) -> float | None:
    return float(np.mean(values)) if values else None
