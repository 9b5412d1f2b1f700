"""The one table from our errors to HTTP and gRPC answers. Both transports read it; nothing else maps an error."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from seer_core import errors
from seer_core.errors import SeerError


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """How an error is told: HTTP status, name of the gRPC status code, OpenAI `type` and `code`."""

    http: int
    grpc: str
    kind: str
    code: str


def _bad_request(code: str, http: int = 400) -> Answer:
    return Answer(http=http, grpc="INVALID_ARGUMENT", kind="invalid_request_error", code=code)


def _our_fault(code: str) -> Answer:
    return Answer(http=500, grpc="INTERNAL", kind="server_error", code=code)


TABLE: dict[type[SeerError], Answer] = {
    errors.InvalidRequest: _bad_request("invalid_request"),
    errors.UnknownModel: Answer(http=404, grpc="NOT_FOUND", kind="invalid_request_error", code="model_not_found"),
    errors.BadImage: _bad_request("bad_image"),
    errors.ImageTooLarge: _bad_request("image_too_large", http=413),
    errors.ContextLengthExceeded: _bad_request("context_length_exceeded"),
    errors.RequestError: _bad_request("invalid_request"),
    errors.QueueFull: Answer(http=429, grpc="RESOURCE_EXHAUSTED", kind="rate_limit_error", code="queue_full"),
    errors.NotReady: Answer(http=503, grpc="UNAVAILABLE", kind="server_error", code="not_ready"),
    errors.AdmissionError: Answer(http=503, grpc="UNAVAILABLE", kind="server_error", code="unavailable"),
    errors.BudgetExceeded: Answer(http=504, grpc="DEADLINE_EXCEEDED", kind="timeout_error", code="budget_exceeded"),
    errors.PromptLost: _our_fault("prompt_lost"),
    errors.ReplicaLost: _our_fault("replica_lost"),
    errors.EngineError: _our_fault("engine_error"),
    errors.WeightsError: _our_fault("weights_error"),
    errors.ProfileError: _our_fault("profile_error"),
    errors.ConfigError: _our_fault("config_error"),
    SeerError: _our_fault("internal_error"),
}


def answer_of(error: SeerError) -> Answer:
    """The row of the error's class, or of the nearest class above it."""
    return next(TABLE[kind] for kind in type(error).__mro__ if kind in TABLE)


def seer_error(error: BaseException) -> SeerError:
    """The error as one of ours. A remote one is unwrapped; a foreign one becomes an EngineError without its text."""
    cause = getattr(error, "cause", None)
    for candidate in (error, cause):
        if isinstance(candidate, SeerError) and type(candidate) in TABLE:
            return candidate
    return errors.EngineError("the service failed on this request")


def retry_after_s(error: SeerError) -> float | None:
    """Seconds after which another try is welcome; None where it is not."""
    return error.retry_after_s if isinstance(error, errors.AdmissionError) else None


def body(error: SeerError, request_id: str) -> dict[str, Any]:
    """The OpenAI error object. A fault of ours names the request, never a traceback."""
    answer = answer_of(error)
    message = error.message if answer.http != 500 else f"{error.message} (request {request_id})"
    return {"error": {"message": message, "type": answer.kind, "param": error.field, "code": answer.code}}
