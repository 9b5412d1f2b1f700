"""The HTTP face: OpenAI's chat completions, models, health, readiness. Knows no Ray and no gRPC."""

from __future__ import annotations

import time
import uuid
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any, Protocol

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, RedirectResponse, Response, StreamingResponse
from starlette.exceptions import HTTPException

from deployments import replies
from deployments.body_limit import BodyLimit
from deployments.errors import answer_of, body, retry_after_s
from deployments.schema import ChatRequest
from deployments.validation import explain
from seer_core.errors import InvalidRequest, NotReady, SeerError, UnknownModel
from seer_core.types import Delta, GenerationRequest, Outcome

MAX_BODY_BYTES = 64 * 2**20


class Service(Protocol):
    """What both faces stand on."""

    @property
    def model(self) -> str: ...

    @property
    def calibrated(self) -> bool: ...

    def answer(self, request: GenerationRequest, protocol: str) -> AsyncGenerator[Delta, None]:
        """Text as it becomes final; the last delta carries the outcome. Raises SeerError and nothing else."""

    async def warm(self) -> bool:
        """Whether a worker could start on a request now."""


def http_api(service: Service) -> FastAPI:
    """The ASGI application over a service."""
    api = FastAPI(title="Seer", description="Diffusion multimodal models with foreseen answer lengths.")
    api.add_middleware(BodyLimit, max_bytes=MAX_BODY_BYTES)
    api.add_exception_handler(SeerError, _refused)
    api.add_exception_handler(RequestValidationError, _malformed)
    api.add_exception_handler(HTTPException, _unroutable)

    @api.post("/v1/chat/completions")
    async def chat(question: ChatRequest, http: Request) -> Response:
        """An answer to a conversation with images, whole or streamed."""
        return await _chat(service, question, http)

    @api.get("/v1/models")
    async def models() -> dict[str, Any]:
        """The one model this service has."""
        return replies.models(service.model, calibrated=service.calibrated)

    @api.get("/v1/models/{name:path}")
    async def model(name: str) -> dict[str, Any]:
        """The same by name; 404 for any other."""
        _check_model(service, name)
        return replies.model_card(service.model, calibrated=service.calibrated)

    @api.get("/health")
    async def health() -> dict[str, str]:
        """This process lives."""
        return {"status": "ok"}

    @api.get("/ready")
    async def ready() -> dict[str, str]:
        """A worker is warm; 503 until then."""
        if not await service.warm():
            raise NotReady("no worker is warm yet", retry_after_s=2.0)
        return {"status": "ready"}

    @api.get("/", include_in_schema=False)
    async def root() -> Response:
        """The documentation of the API."""
        return RedirectResponse("/docs")

    return api


async def whole(deltas: AsyncGenerator[Delta, None]) -> Outcome:
    """The outcome of an answer nobody wants piece by piece."""
    async with aclosing(deltas):
        async for delta in deltas:
            if delta.outcome is not None:
                return delta.outcome
    raise SeerError("the request ended without an answer")


async def _chat(service: Service, question: ChatRequest, http: Request) -> Response:
    http.state.request_id = request_id = uuid.uuid4().hex
    if question.model is not None:
        _check_model(service, question.model)
    reply = replies.Reply(id=request_id, model=service.model, created_s=int(time.time()))
    deltas = service.answer(question.request(request_id), "http")
    if not question.stream:
        return JSONResponse(reply.completion(await whole(deltas)))
    first = await anext(deltas)
    usage = question.stream_options is not None and question.stream_options.include_usage
    return StreamingResponse(_events(reply, first, deltas, usage=usage), media_type="text/event-stream")


def _check_model(service: Service, name: str) -> None:
    if name != service.model:
        raise UnknownModel(f"there is no model {name!r} here, only {service.model!r}", field="model")


async def _events(
    reply: replies.Reply, first: Delta, deltas: AsyncGenerator[Delta, None], *, usage: bool
) -> AsyncGenerator[str, None]:
    """The SSE events of one answer. A failure after the first text is an event, never silence."""
    async with aclosing(deltas):
        yield replies.sse(reply.opening())
        for event in _events_of(reply, first, usage=usage):
            yield event
        try:
            async for delta in deltas:
                for event in _events_of(reply, delta, usage=usage):
                    yield event
        except SeerError as error:
            yield replies.sse(body(error, reply.id))
            return
        yield "data: [DONE]\n\n"


def _events_of(reply: replies.Reply, delta: Delta, *, usage: bool) -> list[str]:
    events = [reply.piece(delta.text)] if delta.text else []
    if delta.outcome is not None:
        events.append(reply.closing(delta.outcome))
        events += [reply.usage(delta.outcome)] if usage else []
    return [replies.sse(event) for event in events]


async def _refused(http: Request, error: Exception) -> Response:
    assert isinstance(error, SeerError)
    request_id = getattr(http.state, "request_id", "unknown")
    wait_s = retry_after_s(error)
    headers = {} if wait_s is None else {"retry-after": str(max(1, round(wait_s)))}
    return JSONResponse(body(error, request_id), status_code=answer_of(error).http, headers=headers)


async def _malformed(http: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    return await _refused(http, explain(error.errors(), ChatRequest))


async def _unroutable(_: Request, error: Exception) -> Response:
    """What the framework refuses on its own: no such path, a wrong method, a body in no known encoding."""
    assert isinstance(error, HTTPException)
    told = body(InvalidRequest(str(error.detail)), "")
    return JSONResponse(told, status_code=error.status_code, headers=error.headers)
