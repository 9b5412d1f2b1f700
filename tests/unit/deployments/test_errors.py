"""Every error of ours has one answer, the same over HTTP and gRPC."""

from __future__ import annotations

import grpc
import pytest

from deployments.errors import TABLE, answer_of, body, retry_after_s, seer_error
from seer_core.errors import BadImage, BudgetExceeded, EngineError, ImageTooLarge, InvalidRequest, QueueFull, SeerError


def leaves(kind: type[SeerError]) -> set[type[SeerError]]:
    below = kind.__subclasses__()
    return {kind}.union(*(leaves(one) for one in below)) if below else {kind}


@pytest.mark.parametrize("kind", sorted(leaves(SeerError), key=str))
def test_every_error_is_in_the_table(kind: type[SeerError]) -> None:
    assert kind in TABLE


@pytest.mark.parametrize("kind", TABLE, ids=lambda kind: kind.__name__)
def test_every_grpc_code_exists_and_agrees_with_http(kind: type[SeerError]) -> None:
    answer = TABLE[kind]
    assert hasattr(grpc.StatusCode, answer.grpc)
    assert (answer.http >= 500) == (answer.grpc in ("INTERNAL", "UNAVAILABLE", "DEADLINE_EXCEEDED"))


@pytest.mark.parametrize(
    ("error", "http", "code"),
    [
        (InvalidRequest("x"), 400, "INVALID_ARGUMENT"),
        (BadImage("x"), 400, "INVALID_ARGUMENT"),
        (ImageTooLarge("x"), 413, "INVALID_ARGUMENT"),
        (QueueFull("x"), 429, "RESOURCE_EXHAUSTED"),
        (BudgetExceeded("x"), 504, "DEADLINE_EXCEEDED"),
        (EngineError("x"), 500, "INTERNAL"),
    ],
)
def test_the_promised_codes(error: SeerError, http: int, code: str) -> None:
    assert (answer_of(error).http, answer_of(error).grpc) == (http, code)


def test_a_request_error_names_its_field() -> None:
    told = body(InvalidRequest("n must be 1", field="n"), "r1")["error"]
    assert told == {
        "message": "n must be 1",
        "type": "invalid_request_error",
        "param": "n",
        "code": "invalid_request",
    }


def test_a_fault_of_ours_names_the_request() -> None:
    assert "r1" in body(EngineError("it broke"), "r1")["error"]["message"]


def test_a_foreign_error_is_told_without_its_text() -> None:
    told = seer_error(ValueError("/secret/path"))
    assert isinstance(told, EngineError)
    assert "secret" not in told.message


def test_the_cause_of_a_remote_error_is_unwrapped() -> None:
    remote = RuntimeError("a task failed")
    remote.cause = QueueFull("full", retry_after_s=3.0)  # type: ignore[attr-defined]
    told = seer_error(remote)
    assert isinstance(told, QueueFull)
    assert retry_after_s(told) == 3.0
