"""Between `seer.v1` and the core's records."""

from __future__ import annotations

from typing import Any

import grpc
import pytest

from deployments.grpc_codec import chunk_message, refuse, request_of
from deployments.proto import seer_pb2
from seer_core.errors import InvalidRequest, QueueFull
from seer_core.types import Decoding, Delta
from tests.unit.deployments.jobs import ended


def message(**fields: Any) -> seer_pb2.GenerateRequest:
    turn = seer_pb2.Message(role="user", text="hi", images=[b"png"])
    return seer_pb2.GenerateRequest(**{"messages": [turn], **fields})


class Context:
    """What the codec needs of a call's context."""

    def __init__(self) -> None:
        self.code: Any = None
        self.details = ""
        self.trailers: dict[str, str] = {}

    def set_code(self, code: Any) -> None:
        self.code = code

    def set_details(self, details: str) -> None:
        self.details = details

    def set_trailing_metadata(self, metadata: Any) -> None:
        self.trailers = dict(metadata)


def test_absent_fields_take_the_defaults() -> None:
    request = request_of(message(), "r1")
    assert request.messages[0].images == (b"png",)
    assert (request.sampling.max_tokens, request.decoding.truncate, request.priority) == (64, True, 0)


def test_zero_is_not_absent() -> None:
    request = request_of(message(truncate=False, temperature=0.0, seed=0, priority=0), "r1")
    assert request.decoding.truncate is False
    assert request.sampling.seed == 0


def test_the_commit_rule_and_its_numbers_come_through() -> None:
    sent = request_of(message(commit="factor", commit_factor=2.0, commit_threshold=0.0), "r1")
    assert sent.decoding == Decoding(commit="factor", commit_factor=2.0, commit_threshold=0.0)


def test_the_cache_and_the_guidance_come_through() -> None:
    sent = request_of(message(cache="fastdllm_dual", guidance_scale=1.5), "r1")
    assert sent.decoding == Decoding(cache="fastdllm_dual", guidance_scale=1.5)


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"max_tokens": -1}, "max_tokens"),
        ({"max_tokens": 0}, "max_tokens"),
        ({"stop": list("abcde")}, "stop"),
        ({"schedule_shift": float("inf")}, "schedule_shift"),
        ({"remasking": "hope"}, "remasking"),
        ({"commit": "all"}, "commit"),
        ({"commit_factor": float("inf")}, "commit_factor"),
        ({"messages": []}, "messages"),
        ({"messages": [seer_pb2.Message(role="robot")]}, "messages.0.role"),
    ],
)
def test_the_limits_are_those_of_http(fields: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidRequest) as caught:
        request_of(message(**fields), "r1")
    assert (caught.value.field or "").startswith(field)


def test_only_the_last_chunk_has_an_outcome() -> None:
    assert not chunk_message(Delta(id="r1", text="a")).HasField("outcome")
    last = chunk_message(ended("r1", "b"))
    assert (last.text, last.outcome.finish_reason, list(last.outcome.tokens)) == ("b", "stop", [1])


def test_a_refusal_sets_code_details_and_trailers() -> None:
    context = Context()
    refuse(context, QueueFull("full", retry_after_s=1.5), "r1")
    assert (context.code, context.details) == (grpc.StatusCode.RESOURCE_EXHAUSTED, "full")
    assert context.trailers == {"seer-error-code": "queue_full", "seer-request-id": "r1", "retry-after-s": "1.500"}


def test_details_stay_within_what_a_trailer_may_hold() -> None:
    context = Context()
    refuse(context, InvalidRequest("unknown detector " + "é" * 100_000), "r1")
    assert context.details.startswith("unknown detector é")
    assert len(context.details.encode()) < 8192
