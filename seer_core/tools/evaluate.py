"""Does truncation change the answers? Each sample runs on its whole canvas, under the detector, and under the oracle,
which cuts at the true end of the untruncated run with the same margin.

Knows no data set and no file: samples are handed in, records are handed out.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Protocol

from tqdm import tqdm

from seer_core.errors import ConfigError
from seer_core.probe.boundary import kept_tokens
from seer_core.probe.detectors import whole_canvas
from seer_core.tools.answer_metrics import metric_named
from seer_core.tools.evaluation_record import Record, Summary, summarise
from seer_core.tools.stages import Stages, end_slot
from seer_core.types import Decoding, Forecast, GenerationRequest, Message, Outcome, Sampling


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """A question with its right answers, none where nobody knows them.

    `image` is an encoded file, `prompt` all that is asked, `choices` included; `kind` is the sort of question, `metric`
    how its answer is scored. A sample without an `id` goes by its place.
    """

    image: bytes
    prompt: str
    answers: tuple[str, ...]
    kind: str
    choices: tuple[str, ...] = ()
    metric: str = "exact"
    id: str = ""

    @property
    def answer(self) -> str:
        """The first of the right answers."""
        return self.answers[0] if self.answers else ""

    def digest(self) -> str:
        """The same for the same question, asked and scored in the same way."""
        asked = [self.prompt, self.answers, self.choices, self.metric, hashlib.sha256(self.image).hexdigest()]
        return hashlib.sha256(json.dumps(asked).encode()).hexdigest()[:16]


class Samples(Protocol):
    """A known number of samples, gone through once."""

    def __len__(self) -> int: ...

    def __iter__(self) -> Iterator[Sample]: ...


class Records(Protocol):
    """Where records are kept, those of an earlier run included."""

    @property
    def records(self) -> dict[str, Record]: ...

    def add(self, records: Sequence[Record]) -> None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """One sample under the three regimes. `end` is the slot of the first end token, N where there is none."""

    sample: Sample
    end: int
    forecast: Forecast
    whole: Outcome
    seer: Outcome
    oracle: Outcome


def evaluate(
    stages: Stages,
    samples: Samples,
    *,
    canvas_tokens: int,
    decoding: Decoding | None = None,
    kept: Records | None = None,
    batch_rows: int = 16,
    progress: bool = True,
) -> Summary:
    """Scores over all samples at one canvas length, as plain JSON values.

    A sample that `kept` has a record of is not run again. Raises `ConfigError` for a sample without a right answer, two
    of one id, and a record of that id that belongs to another sample.
    """
    decoding = decoding if decoding is not None else Decoding()
    records: dict[str, Record] = {}
    with tqdm(total=len(samples), desc=f"canvas {canvas_tokens}", unit="row", disable=not progress) as bar:
        for batch in _batches(_missing(samples, records, {} if kept is None else kept.records, bar.update), batch_rows):
            fresh = [record_of(trial) for trial in run_trials(stages, batch, canvas_tokens, decoding)]
            if kept is not None:
                kept.add(fresh)
            records.update((record.id, record) for record in fresh)
            bar.update(len(fresh))
    return summarise(list(records.values()))


def _missing(
    samples: Samples, seen: dict[str, Record], known: dict[str, Record], tick: Callable[[], object]
) -> Iterator[Sample]:
    """The samples without a record; those with one go to `seen`."""
    ids: set[str] = set()
    for index, sample in enumerate(samples):
        named = sample if sample.id else replace(sample, id=str(index))
        if named.id in ids:
            raise ConfigError(f"two samples have the id {named.id!r}", field="data")
        ids.add(named.id)
        check_answered(named)
        if named.id not in known:
            yield named
            continue
        if known[named.id].sample != named.digest():
            raise ConfigError(f"the record of {named.id!r} is of another question: choose another file", field="out")
        seen[named.id] = known[named.id]
        tick()


def check_answered(sample: Sample) -> None:
    """Raises `ConfigError` for a sample without a right answer."""
    if not sample.answers:
        raise ConfigError(f"sample {sample.id!r} has no right answer to be scored against", field="data")


def record_of(trial: Trial) -> Record:
    """What is kept of a trial."""
    sample, forecast = trial.sample, trial.forecast
    metric = metric_named(sample.metric)
    return Record(
        id=sample.id,
        sample=sample.digest(),
        kind=sample.kind,
        metric=sample.metric,
        answers=sample.answers,
        text=trial.seer.text,
        text_untruncated=trial.whole.text,
        score=metric(trial.seer.text, sample.answers, sample.choices),
        score_untruncated=metric(trial.whole.text, sample.answers, sample.choices),
        exact=_exact(trial.seer, sample),
        exact_untruncated=_exact(trial.whole, sample),
        agrees=trial.seer.tokens == trial.whole.tokens,
        agrees_oracle=trial.oracle.tokens == trial.whole.tokens,
        detector=forecast.detector,
        canvas_tokens=forecast.canvas_tokens,
        end=trial.end,
        boundary=forecast.boundary,
        forecast_tokens=forecast.length_tokens,
        kept_tokens=trial.seer.kept_tokens,
        margin_cost_tokens=forecast.length_tokens - kept_tokens(forecast.boundary, forecast.canvas_tokens, 0),
        answer_tokens=len(trial.seer.tokens),
        answer_tokens_untruncated=len(trial.whole.tokens),
        regrown=trial.seer.regrown,
        steps=trial.seer.steps,
        steps_untruncated=trial.whole.steps,
    )


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


def _request(index: int, sample: Sample, canvas_tokens: int, decoding: Decoding) -> GenerationRequest:
    return GenerationRequest(
        id=f"evaluate-{index}",
        messages=(Message(role="user", text=sample.prompt, images=(sample.image,)),),
        sampling=Sampling(max_tokens=canvas_tokens),
        decoding=decoding,
    )


def _margin(stages: Stages, forecast: Forecast) -> int:
    return stages.probe.profile.margin_of(forecast.detector)


def _exact(outcome: Outcome, sample: Sample) -> bool:
    return outcome.text.strip() in {answer.strip() for answer in sample.answers}


def _batches(samples: Iterable[Sample], size: int) -> Iterator[list[Sample]]:
    waiting = iter(samples)
    while batch := list(islice(waiting, size)):
        yield batch
