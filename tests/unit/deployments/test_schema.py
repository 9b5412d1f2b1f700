"""What the HTTP body may say, what becomes of it, and how everything else is refused by name."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from deployments.schema import ChatRequest
from deployments.validation import parse
from seer_core.errors import BadImage, InvalidRequest
from seer_core.types import Decoding, GenerationRequest

PNG = b"\x89PNG not really"
URL = "data:image/png;base64," + base64.b64encode(PNG).decode()


def body(**fields: Any) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": "hello"}], **fields}


def request(**fields: Any) -> GenerationRequest:
    return parse(ChatRequest, body(**fields)).request("r1")


def refusal(**fields: Any) -> InvalidRequest:
    with pytest.raises(InvalidRequest) as caught:
        request(**fields)
    return caught.value


def content(*parts: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"role": "user", "content": list(parts)}]


def test_a_bare_question_takes_the_defaults() -> None:
    plain = request()
    assert plain.id == "r1"
    assert plain.messages[0].text == "hello"
    assert (plain.sampling.max_tokens, plain.sampling.temperature, plain.decoding.truncate) == (64, 0.0, True)


def test_what_every_client_sends_is_accepted() -> None:
    sent = request(temperature=0, top_p=1, seed=7, stop="\n", user="me", n=1, max_tokens=5, stream=False)
    assert (sent.sampling.seed, sent.sampling.stop, sent.sampling.max_tokens) == (7, ("\n",), 5)


@pytest.mark.parametrize(
    ("field", "neutral", "asking"),
    [
        ("frequency_penalty", 0, 0.5),
        ("presence_penalty", 0.0, -1),
        ("logprobs", False, True),
        ("response_format", {"type": "text"}, {"type": "json_object"}),
        ("tools", [], [{"type": "function"}]),
        ("logit_bias", {}, {"5": 1}),
    ],
)
def test_a_field_this_server_lacks_may_be_sent_as_long_as_it_asks_for_nothing(
    field: str, neutral: object, asking: object
) -> None:
    assert request(**{field: neutral}).messages == request(**{field: None}).messages == request().messages
    error = refusal(**{field: asking})
    assert error.field == field
    assert "not supported by this server" in error.message


def test_the_words_of_other_harnesses_are_refused_by_name() -> None:
    for field, near in (("max_gen_toks", "max_tokens"), ("max_new_tokens", "max_tokens"), ("until", "")):
        error = refusal(**{field: 1})
        assert (error.field, near in error.message) == (field, True)


def test_a_seed_is_drawn_where_none_is_given() -> None:
    assert request().sampling.seed != request().sampling.seed


def test_text_and_images_come_in_parts() -> None:
    parts = content(
        {"type": "text", "text": "what"},
        {"type": "image_url", "image_url": {"url": URL}},
        {"type": "text", "text": "is this?"},
    )
    message = request(messages=parts).messages[0]
    assert (message.text, message.images) == ("what\nis this?", (PNG,))


def test_both_names_of_the_length_mean_the_same() -> None:
    assert request(max_completion_tokens=9).sampling.max_tokens == 9
    assert request(max_completion_tokens=9, max_tokens=9).sampling.max_tokens == 9
    assert "contradict" in refusal(max_completion_tokens=9, max_tokens=8).message


def test_the_seer_object_steers_decoding() -> None:
    sent = request(
        seer={"truncate": False, "steps_per_token": 0.5, "remasking": "entropy", "budget_s": 3, "priority": 2}
    )
    assert (sent.decoding.truncate, sent.decoding.steps_per_token, sent.decoding.remasking) == (False, 0.5, "entropy")
    assert (sent.budget_s, sent.priority) == (3, 2)


def test_the_commit_rule_and_its_numbers_come_through() -> None:
    plain, sent = request().decoding, request(seer={"commit": "threshold", "commit_threshold": 0.8}).decoding
    assert plain == Decoding()
    assert sent == Decoding(commit="threshold", commit_threshold=0.8)
    assert request(seer={"commit": "factor", "commit_factor": 2}).decoding.commit_factor == 2


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"max_tokens": -1}, "max_tokens"),
        ({"max_tokens": 0}, "max_tokens"),
        ({"temperature": -0.1}, "temperature"),
        ({"top_p": 0}, "top_p"),
        ({"n": 2}, "n"),
        ({"messages": []}, "messages"),
        ({"messages": [{"role": "robot", "content": "x"}]}, "messages.0.role"),
        ({"messages": content({"type": "audio", "text": "x"})}, "messages.0.content.0"),
        ({"messages": content({"type": "text"})}, "messages.0.content.0.text"),
        ({"seer": {"steps_per_token": 2}}, "seer.steps_per_token"),
        ({"seer": {"budget_s": 0}}, "seer.budget_s"),
        ({"seer": {"schedule_shift": float("inf")}}, "seer.schedule_shift"),
        ({"seer": {"commit": "treshold"}}, "seer.commit"),
        ({"seer": {"commit_threshold": float("nan")}}, "seer.commit_threshold"),
        ({"seer": {"commit_factor": 0}}, "seer.commit_factor"),
    ],
)
def test_a_wrong_value_is_refused_by_field(fields: dict[str, Any], field: str) -> None:
    assert (refusal(**fields).field or "").startswith(field)


@pytest.mark.parametrize(("stop", "field"), [(list("abcde"), "stop"), ([""], "stop.0"), (5, "stop"), ([5], "stop.0")])
def test_wrong_stop_strings_are_refused_by_field(stop: object, field: str) -> None:
    assert refusal(stop=stop).field == field


def test_an_empty_stop_string_is_none() -> None:
    assert request(stop="").sampling.stop == ()


@pytest.mark.parametrize("name", ["response_format", "tools", "logprobs", "presence_penalty"])
def test_what_is_not_supported_is_named(name: str) -> None:
    error = refusal(**{name: {}})
    assert error.field == name
    assert "not supported" in error.message


@pytest.mark.parametrize(
    ("fields", "field", "near"),
    [
        ({"max_token": 3}, "max_token", "max_tokens"),
        ({"seer": {"detectr": "paper"}}, "seer.detectr", "detector"),
        ({"messages": [{"role": "user", "contents": "x", "content": "y"}]}, "messages.0.contents", "content"),
    ],
)
def test_an_unknown_field_is_refused_with_the_nearest_known(fields: dict[str, Any], field: str, near: str) -> None:
    error = refusal(**fields)
    assert error.field == field
    assert f"did you mean {near}" in error.message


def test_stream_options_need_a_stream() -> None:
    assert "stream" in refusal(stream_options={"include_usage": True}).message
    assert parse(ChatRequest, body(stream=True, stream_options={"include_usage": True})).stream


@pytest.mark.parametrize("url", ["https://example.org/a.png", "file:///etc/passwd", "data:image/png,plain"])
def test_only_base64_data_urls_are_images(url: str) -> None:
    error = refusal(messages=content({"type": "image_url", "image_url": {"url": url}}))
    assert error.field == "image_url.url"


def test_broken_base64_is_a_bad_image() -> None:
    with pytest.raises(BadImage):
        request(messages=content({"type": "image_url", "image_url": {"url": "data:image/png;base64,@@@"}}))
