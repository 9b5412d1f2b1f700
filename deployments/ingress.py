"""The Ingress deployment: HTTP and gRPC faces of one class, both thin over `Generation`. Imports no torch."""

from __future__ import annotations

import logging
import time
import uuid
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import FileResponse, JSONResponse, RedirectResponse, Response, StreamingResponse
from ray import serve

from deployments import grpc_codec, remote, replies
from deployments.body_limit import BodyLimit
from deployments.errors import answer_of, body, retry_after_s, seer_error
from deployments.generation import Generation, Service
from deployments.job import Job, Probed, ProbeJob
from deployments.metrics import IngressMetrics
from deployments.parts import Parts
from deployments.schema import ChatRequest
from deployments.validation import explain
from seer_core.errors import InvalidRequest, NotReady, SeerError
from seer_core.types import Delta, GenerationRequest, Outcome

if TYPE_CHECKING:
    from grpc_health.v1 import health_pb2

    from deployments.proto import seer_pb2

log = logging.getLogger("ray.serve")

api = FastAPI(title="Seer", description="Diffusion multimodal models with foreseen answer lengths.")
PLAYGROUND = Path(__file__).parent / "playground" / "index.html"
READY_TIMEOUT_S = 3.0
MAX_BODY_BYTES = 64 * 2**20
api.add_middleware(BodyLimit, max_bytes=MAX_BODY_BYTES)


@serve.ingress(api)
class Ingress:
    """Holds every request until its one terminal answer. `api` carries its routes; the gRPC methods bear RPC names."""

    def __init__(self, parts: Parts, probe: Any, router: Any) -> None:
        self._model = parts.model_name
        self._probe = probe
        self._router = router
        self._metrics = IngressMetrics()
        self._service = Service(
            prepare=parts.prepare(),
            forecast=self._forecast,
            route=self._route,
            clock=time.monotonic,
            retried=self._metrics.retried,
        )

    @api.post("/v1/chat/completions")
    async def chat(self, question: ChatRequest, http: Request) -> Response:
        """An answer to a conversation with images, whole or streamed."""
        http.state.request_id = request_id = uuid.uuid4().hex
        self._check_model(question.model)
        request = question.request(request_id)
        reply = replies.Reply(id=request_id, model=self._model, created_s=int(time.time()))
        deltas = self._deltas(request, "http")
        if not question.stream:
            return JSONResponse(reply.completion(*await _whole(deltas)))
        first = await anext(deltas)
        usage = question.stream_options is not None and question.stream_options.include_usage
        return StreamingResponse(_events(reply, first, deltas, usage=usage), media_type="text/event-stream")

    @api.get("/v1/models")
    async def models(self) -> dict[str, Any]:
        """The one model this service has."""
        return replies.models(self._model)

    @api.get("/health")
    async def health(self) -> dict[str, str]:
        """This process lives."""
        return {"status": "ok"}

    @api.get("/ready")
    async def ready(self) -> dict[str, str]:
        """A worker is warm; 503 until then."""
        if not await self._warm():
            raise NotReady("no worker is warm yet", retry_after_s=2.0)
        return {"status": "ready"}

    @api.get("/", include_in_schema=False)
    async def playground(self) -> Response:
        """The playground; the API's documentation where none is installed."""
        return FileResponse(PLAYGROUND) if PLAYGROUND.exists() else RedirectResponse("/docs")

    async def Generate(self, message: seer_pb2.GenerateRequest, grpc_context: Any) -> seer_pb2.GenerateResponse:
        """`seer.v1.Seer/Generate`."""
        from deployments.proto import seer_pb2

        request_id = uuid.uuid4().hex
        try:
            text, outcome = await _whole(self._deltas(grpc_codec.request_of(message, request_id), "grpc"))
        except SeerError as error:
            grpc_codec.refuse(grpc_context, error, request_id)
            return seer_pb2.GenerateResponse(id=request_id)
        return seer_pb2.GenerateResponse(id=request_id, text=text, outcome=grpc_codec.outcome_message(outcome))

    async def GenerateStream(
        self, message: seer_pb2.GenerateRequest, grpc_context: Any
    ) -> AsyncIterator[seer_pb2.GenerateChunk]:
        """`seer.v1.Seer/GenerateStream`."""
        from deployments.proto import seer_pb2

        request_id = uuid.uuid4().hex
        try:
            async with aclosing(self._deltas(grpc_codec.request_of(message, request_id), "grpc")) as deltas:
                async for delta in deltas:
                    chunk = seer_pb2.GenerateChunk(id=request_id, text=delta.text)
                    if delta.outcome is not None:
                        chunk.outcome.CopyFrom(grpc_codec.outcome_message(delta.outcome))
                    yield chunk
        except SeerError as error:
            grpc_codec.refuse(grpc_context, error, request_id)

    async def Check(self, message: health_pb2.HealthCheckRequest) -> health_pb2.HealthCheckResponse:
        """`grpc.health.v1.Health/Check`: SERVING while a worker is warm."""
        from grpc_health.v1 import health_pb2

        states = health_pb2.HealthCheckResponse
        if message.service not in ("", "seer.v1.Seer"):
            return states(status=states.SERVICE_UNKNOWN)
        return states(status=states.SERVING if await self._warm() else states.NOT_SERVING)

    async def _deltas(self, request: GenerationRequest, protocol: str) -> AsyncGenerator[Delta, None]:
        """The request's deltas, measured. Raises SeerError and nothing else."""
        self._metrics.started(protocol)
        started_s = time.monotonic()
        first = True
        try:
            async with aclosing(Generation(request, self._service).deltas()) as deltas:
                async for delta in deltas:
                    if first and delta.text:
                        self._metrics.first_text(time.monotonic() - started_s)
                        first = False
                    yield delta
            self._metrics.finished(time.monotonic() - started_s)
        except Exception as error:
            ours = seer_error(error)
            self._metrics.failed(answer_of(ours).code)
            if answer_of(ours).http == 500:
                log.error("request %s failed", request.id, exc_info=error)
            raise ours from error

    async def _forecast(self, job: ProbeJob, timeout_s: float) -> Probed:
        probed: Probed = await remote.answer(self._probe.forecast.remote(job), timeout_s)
        return probed

    def _route(self, job: Job) -> AsyncGenerator[Delta, None]:
        answer = self._router.options(stream=True).submit.remote(job)
        return remote.items(answer, job.budget_s + 5.0)

    async def _warm(self) -> bool:
        try:
            return bool(await remote.answer(self._router.ready.remote(), READY_TIMEOUT_S))
        except Exception:
            return False

    def _check_model(self, model: str | None) -> None:
        if model not in (None, self._model):
            raise InvalidRequest(f"there is no model {model!r}; this service has {self._model!r}", field="model")


async def _whole(deltas: AsyncGenerator[Delta, None]) -> tuple[str, Outcome]:
    async with aclosing(deltas):
        async for delta in deltas:
            if delta.outcome is not None:
                return delta.outcome.text, delta.outcome
    raise SeerError("the request ended without an answer")


async def _events(
    reply: replies.Reply, first: Delta, deltas: AsyncGenerator[Delta, None], *, usage: bool
) -> AsyncGenerator[str, None]:
    """The SSE events of one answer. A failure after the first text is an event, never silence."""
    yield replies.sse(reply.opening())
    try:
        async with aclosing(deltas):
            for event in _events_of(reply, first, usage=usage):
                yield event
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


@api.exception_handler(SeerError)
async def _refused(http: Request, error: SeerError) -> Response:
    request_id = getattr(http.state, "request_id", "unknown")
    wait_s = retry_after_s(error)
    headers = {} if wait_s is None else {"retry-after": str(max(1, round(wait_s)))}
    return JSONResponse(body(error, request_id), status_code=answer_of(error).http, headers=headers)


@api.exception_handler(RequestValidationError)
async def _malformed(http: Request, error: RequestValidationError) -> Response:
    return await _refused(http, explain(error.errors(), ChatRequest))
