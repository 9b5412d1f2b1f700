"""The whole flow on the embedded model: right answers, alone or together, cut or not, whole or streamed."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from seer_core.errors import ContextLengthExceeded, EngineError, InvalidRequest
from seer_core.pipeline import Pipeline
from seer_core.types import Decoding, Forecast, GenerationRequest, Message, Sampling

EXAMPLES = Path(__file__).parents[2] / "examples"
ASKED = json.loads((EXAMPLES / "answers.json").read_text())


@pytest.fixture(scope="module")
def pipeline() -> Pipeline:
    return Pipeline.load()


def asking(index: int, *, max_tokens: int = 64, **decoding: object) -> GenerationRequest:
    asked = ASKED[index]
    image = (EXAMPLES / asked["image"]).read_bytes()
    return GenerationRequest(
        id=f"{index}",
        messages=(Message(role="user", text=asked["prompt"], images=(image,)),),
        sampling=Sampling(max_tokens=max_tokens),
        decoding=Decoding(**decoding),  # type: ignore[arg-type]
    )


def test_every_shipped_example_is_answered_right(pipeline: Pipeline) -> None:
    outcomes = pipeline.generate([asking(index) for index in range(len(ASKED))])
    assert [outcome.text for outcome in outcomes] == [asked["answer"] for asked in ASKED]
    assert {outcome.finish_reason for outcome in outcomes} == {"stop"}
    assert all(outcome.forecast_tokens < outcome.canvas_tokens for outcome in outcomes)


@pytest.mark.parametrize("commit", ["threshold", "factor"])
def test_committing_what_is_sure_keeps_the_answers_and_saves_steps(pipeline: Pipeline, commit: str) -> None:
    plain = pipeline.generate([asking(index) for index in range(len(ASKED))])
    requests = [asking(index, commit=commit) for index in range(len(ASKED))]
    outcomes = pipeline.generate(requests)
    assert [outcome.text for outcome in outcomes] == [asked["answer"] for asked in ASKED]
    assert all(fast.steps <= slow.steps for fast, slow in zip(outcomes, plain, strict=True))
    assert sum(outcome.steps for outcome in outcomes) < sum(outcome.steps for outcome in plain) / 2
    alone = [pipeline.generate([request])[0] for request in requests]
    assert [(one.tokens, one.steps) for one in alone] == [(one.tokens, one.steps) for one in outcomes]


def test_together_and_alone_are_the_same(pipeline: Pipeline) -> None:
    requests = [asking(index, max_tokens=32 + 8 * index) for index in range(len(ASKED))]
    together = pipeline.generate(requests)
    alone = [pipeline.generate([request])[0] for request in requests]
    assert [outcome.tokens for outcome in together] == [outcome.tokens for outcome in alone]
    assert [outcome.steps for outcome in together] == [outcome.steps for outcome in alone]


def test_a_truncated_run_is_the_untruncated_one_at_that_length(pipeline: Pipeline) -> None:
    """A row that grew back is no longer a run at that length; most of the examples must not have."""
    cuts = {index: pipeline.generate([asking(index, early_exit=False)])[0] for index in range(len(ASKED))}
    once = {index: cut for index, cut in cuts.items() if cut.regrown == 0}
    assert len(once) >= 6
    for index, cut in once.items():
        assert cut.forecast_tokens < 64
        whole = asking(index, max_tokens=cut.forecast_tokens, truncate=False, early_exit=False)
        same = pipeline.generate([whole])[0]
        assert (cut.tokens, cut.steps) == (same.tokens, same.steps)


def test_what_is_streamed_is_what_is_returned(pipeline: Pipeline) -> None:
    deltas = list(pipeline.stream(asking(4)))
    assert [delta.last for delta in deltas] == [False] * (len(deltas) - 1) + [True]
    outcome = deltas[-1].outcome
    assert outcome is not None
    assert "".join(delta.text for delta in deltas) == outcome.text
    assert len(deltas) > 2


def test_a_canvas_cut_inside_the_answer_grows_back_to_it(pipeline: Pipeline) -> None:
    request = asking(4)
    prompts = pipeline.encode([request])
    forecast = replace(pipeline.forecast([request], prompts)[0], length_tokens=8)
    grown = pipeline.run([request], prompts, [forecast])[0]
    assert grown.text == ASKED[4]["answer"]
    assert grown.regrown > 0
    assert grown.finish_reason == "stop"


def test_max_tokens_is_never_exceeded_and_says_length(pipeline: Pipeline) -> None:
    outcome = pipeline.generate([asking(4, max_tokens=12)])[0]
    assert outcome.finish_reason == "length"
    assert outcome.usage.completion_tokens == 12
    assert ASKED[4]["answer"].startswith(outcome.text)


def test_where_nothing_is_detected_nothing_is_cut(pipeline: Pipeline) -> None:
    request = asking(0, detector="none", early_exit=False)
    forecast: Forecast = pipeline.forecast([request], pipeline.encode([request]))[0]
    assert forecast.fallback
    assert forecast.length_tokens == 64
    assert pipeline.generate([request])[0].steps == 64


def test_a_literal_mask_token_in_the_question_is_text(pipeline: Pipeline) -> None:
    request = asking(0)
    words = replace(request.messages[0], text="List the shapes. <|mdm_mask|>")
    prompt = pipeline.processor.prepare([words])
    assert pipeline.info.roles.mask_id not in prompt.ids
    outcome = pipeline.generate([replace(request, messages=(words,))])[0]
    assert pipeline.info.roles.mask_id not in outcome.tokens


def test_bad_requests_are_refused_by_name(pipeline: Pipeline) -> None:
    with pytest.raises(InvalidRequest, match="did you mean 'readout'"):
        pipeline.generate([asking(0, detector="redout")])
    with pytest.raises(InvalidRequest, match="remasking"):
        pipeline.generate([asking(0, remasking="best")])
    with pytest.raises(ContextLengthExceeded):
        pipeline.generate([asking(0, max_tokens=5000)])
    with pytest.raises(EngineError, match="same id"):
        pipeline.generate([asking(0), asking(0)])


def test_the_engine_is_empty_after_an_abandoned_stream(pipeline: Pipeline) -> None:
    stream = pipeline.stream(asking(4))
    next(stream)
    stream.close()
    assert pipeline.engine.idle
