"""Between the messages of `seer.v1` and the core's records.

The pb2 module is imported where it is used: deployments are pickled, and descriptors cannot be.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from deployments.errors import answer_of, retry_after_s
from deployments.schema import SamplingOptions, SeerOptions, Strict
from deployments.validation import parse
from seer_core.errors import SeerError
from seer_core.types import Delta, GenerationRequest, Message, Outcome

if TYPE_CHECKING:
    from deployments.proto import seer_pb2

SAMPLING = ("max_tokens", "temperature", "top_p", "seed")
SEER = tuple(SeerOptions.model_fields)
MAX_DETAILS = 1000
"""Characters of a message that quotes its sender; gRPC drops a call whose trailers are larger than 16 KiB."""


class Turn(Strict):
    role: Literal["system", "user", "assistant"]
    text: str
    images: tuple[bytes, ...]


class GenerateFields(SamplingOptions, SeerOptions):
    """A GenerateRequest under the limits of the HTTP request."""

    messages: tuple[Turn, ...] = Field(min_length=1, max_length=256)


def request_of(message: seer_pb2.GenerateRequest, request_id: str) -> GenerationRequest:
    """The validated request. Raises InvalidRequest naming the field."""
    values: dict[str, Any] = {name: getattr(message, name) for name in SAMPLING + SEER if message.HasField(name)}
    turns = [{"role": turn.role, "text": turn.text, "images": tuple(turn.images)} for turn in message.messages]
    fields = parse(GenerateFields, values | {"messages": turns, "stop": list(message.stop)})
    return GenerationRequest(
        id=request_id,
        messages=tuple(Message(role=turn.role, text=turn.text, images=turn.images) for turn in fields.messages),
        sampling=fields.sampling(fields.max_tokens),
        decoding=fields.decoding(),
        priority=fields.priority,
        budget_s=fields.budget_s,
    )


def outcome_message(outcome: Outcome) -> seer_pb2.Outcome:
    from deployments.proto import seer_pb2

    return seer_pb2.Outcome(
        finish_reason=outcome.finish_reason,
        tokens=outcome.tokens,
        forecast_tokens=outcome.forecast_tokens,
        canvas_tokens=outcome.canvas_tokens,
        kept_tokens=outcome.kept_tokens,
        steps=outcome.steps,
        regrown=outcome.regrown,
        path=outcome.path,
        detector=outcome.detector,
        usage=seer_pb2.Usage(
            prompt_tokens=outcome.usage.prompt_tokens, completion_tokens=outcome.usage.completion_tokens
        ),
    )


def chunk_message(delta: Delta) -> seer_pb2.GenerateChunk:
    from deployments.proto import seer_pb2

    chunk = seer_pb2.GenerateChunk(id=delta.id, text=delta.text)
    if delta.outcome is not None:
        chunk.outcome.CopyFrom(outcome_message(delta.outcome))
    return chunk


def refuse(context: Any, error: SeerError, request_id: str) -> None:
    """Put the error on the call. The caller then returns: an exception would lose the trailing metadata."""
    import grpc

    answer = answer_of(error)
    context.set_code(getattr(grpc.StatusCode, answer.grpc))
    context.set_details(error.message[:MAX_DETAILS])
    trailers = [("seer-error-code", answer.code), ("seer-request-id", request_id)]
    if error.field is not None:
        trailers.append(("seer-error-field", error.field))
    wait_s = retry_after_s(error)
    if wait_s is not None:
        trailers.append(("retry-after-s", f"{wait_s:.3f}"))
    context.set_trailing_metadata(trailers)
