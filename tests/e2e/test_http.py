"""The official OpenAI client against the real service."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import openai
import pytest

from tests.e2e.conftest import RunningService
from tests.e2e.scene import MAX_TOKENS, data_url, expected, question

pytestmark = pytest.mark.timeout(300)

MODEL = "seer-embedded"


@pytest.fixture
def client(service: RunningService) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(base_url=f"{service.url}/v1", api_key="none", max_retries=0, timeout=60.0) as client:
        yield client


def messages(prompt: str | None = None, image: bytes | None = None) -> Any:
    default_image, default_prompt = question()
    parts = [
        {"type": "text", "text": prompt or default_prompt},
        {"type": "image_url", "image_url": {"url": data_url(image or default_image)}},
    ]
    return [{"role": "user", "content": parts}]


def ask(client: openai.OpenAI, **options: Any) -> Any:
    options = {"model": MODEL, "messages": messages(), "max_tokens": MAX_TOKENS, "temperature": 0, **options}
    return client.chat.completions.create(**options)


def test_an_image_question_gets_the_pipelines_answer(client: openai.OpenAI) -> None:
    answer = ask(client)
    assert answer.choices[0].message.content == expected().text
    assert answer.choices[0].finish_reason == expected().finish_reason
    assert answer.seer["tokens"] == list(expected().tokens)
    assert answer.seer["kept_tokens"] == expected().kept_tokens
    assert answer.usage.completion_tokens == expected().usage.completion_tokens
    assert answer.usage.prompt_tokens == expected().usage.prompt_tokens


def test_a_streamed_answer_is_the_same_text(client: openai.OpenAI) -> None:
    chunks = list(ask(client, stream=True, stream_options={"include_usage": True}))
    assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices) == expected().text
    assert chunks[-2].choices[0].finish_reason == expected().finish_reason
    assert chunks[-1].usage.completion_tokens == expected().usage.completion_tokens


def test_answers_in_a_crowd_equal_the_answer_alone(client: openai.OpenAI) -> None:
    with ThreadPoolExecutor(6) as pool:
        answers = list(pool.map(lambda length: ask(client, max_tokens=length), [8, MAX_TOKENS, 24, MAX_TOKENS, 64, 16]))
    same = [answer.choices[0].message.content for answer in answers if answer.seer["canvas_tokens"] == MAX_TOKENS]
    assert same == [expected().text] * 2
    assert all(answer.usage.completion_tokens <= answer.seer["canvas_tokens"] for answer in answers)


def test_what_evaluation_harnesses_send_out_of_habit_changes_nothing(client: openai.OpenAI) -> None:
    habits = {"top_p": 1, "seed": 1234, "n": 1, "stop": [], "presence_penalty": 0, "frequency_penalty": 0}
    answer = ask(client, **habits, response_format={"type": "text"}, logprobs=False)
    assert answer.choices[0].message.content == expected().text


def test_truncation_off_runs_the_whole_canvas(client: openai.OpenAI) -> None:
    answer = ask(client, extra_body={"seer": {"truncate": False}})
    assert answer.seer["forecast_tokens"] == MAX_TOKENS


def test_the_model_is_listed(client: openai.OpenAI) -> None:
    assert [model.id for model in client.models.list()] == [MODEL]


def test_health_readiness_docs_and_front_page(http: httpx.Client) -> None:
    for path in ("/health", "/ready", "/docs", "/v1/models"):
        assert http.get(path).status_code == 200
    assert http.get("/", follow_redirects=True).status_code == 200
