"""The Ingress deployment: one class with both faces, HTTP and gRPC, over `Generation`. Imports no torch."""

from __future__ import annotations

import logging
import time
import uuid
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import TYPE_CHECKING, Any

from fastapi import FastAPI

from deployments import grpc_codec, remote
from deployments.errors import answer_of, seer_error
from deployments.generation import Generation, Route
from deployments.http_api import http_api, whole
from deployments.job import Job, Probed, ProbeJob
from deployments.metrics import IngressMetrics
from deployments.parts import Parts
from seer_core.errors import SeerError
from seer_core.types import Delta, GenerationRequest

if TYPE_CHECKING:
    from grpc_health.v1 import health_pb2

    from deployments.proto import seer_pb2

log = logging.getLogger("ray.serve")

READY_TIMEOUT_S = 3.0
ROUTER_GRACE_S = 5.0


class Ingress:
    """Holds every request until its one terminal answer. The gRPC methods bear the names of their RPCs."""

    def __init__(self, parts: Parts, probe: Any, router: Any) -> None:
        self.model = parts.model_name
        self.calibrated = parts.calibrated
        self._probe = probe
        self._router = router
        self._metrics = IngressMetrics()
        self._route = Route(
            prepare=parts.prepare(),
            forecast=self._forecast,
            submit=self._submit,
            clock=time.monotonic,
            retried=self._metrics.retried,
        )

    def __serve_build_asgi_app__(self) -> FastAPI:
        """Called by Serve once the replica is made."""
        return http_api(self)

    async def Generate(self, message: seer_pb2.GenerateRequest, grpc_context: Any) -> seer_pb2.GenerateResponse:
        """`seer.v1.Seer/Generate`."""
        from deployments.proto import seer_pb2

        request_id = uuid.uuid4().hex
        try:
            outcome = await whole(self.answer(grpc_codec.request_of(message, request_id), "grpc"))
        except SeerError as error:
            grpc_codec.refuse(grpc_context, error, request_id)
            return seer_pb2.GenerateResponse(id=request_id)
        return seer_pb2.GenerateResponse(id=request_id, text=outcome.text, outcome=grpc_codec.outcome_message(outcome))

    async def GenerateStream(
        self, message: seer_pb2.GenerateRequest, grpc_context: Any
    ) -> AsyncGenerator[seer_pb2.GenerateChunk, None]:
        """`seer.v1.Seer/GenerateStream`. An error needs one more, empty chunk: Serve reads codes there."""
        from deployments.proto import seer_pb2

        request_id = uuid.uuid4().hex
        try:
            async with aclosing(self.answer(grpc_codec.request_of(message, request_id), "grpc")) as deltas:
                async for delta in deltas:
                    yield grpc_codec.chunk_message(delta)
        except SeerError as error:
            grpc_codec.refuse(grpc_context, error, request_id)
            yield seer_pb2.GenerateChunk(id=request_id)

    async def Check(self, message: health_pb2.HealthCheckRequest) -> health_pb2.HealthCheckResponse:
        """`grpc.health.v1.Health/Check`: SERVING while a worker is warm."""
        from grpc_health.v1 import health_pb2

        states = health_pb2.HealthCheckResponse
        if message.service not in ("", "seer.v1.Seer"):
            return states(status=states.SERVICE_UNKNOWN)
        return states(status=states.SERVING if await self.warm() else states.NOT_SERVING)

    async def Watch(
        self,
        message: health_pb2.HealthCheckRequest,  # noqa: ARG002 - Serve passes it by place
        grpc_context: Any,
    ) -> AsyncGenerator[health_pb2.HealthCheckResponse, None]:
        """`grpc.health.v1.Health/Watch` is not offered; only this code makes clients go on without it."""
        from grpc import StatusCode
        from grpc_health.v1 import health_pb2

        grpc_context.set_code(StatusCode.UNIMPLEMENTED)
        grpc_context.set_details("Watch is not offered; call Check")
        yield health_pb2.HealthCheckResponse()

    async def answer(self, request: GenerationRequest, protocol: str) -> AsyncGenerator[Delta, None]:
        """The request's deltas, measured. Raises SeerError and nothing else."""
        self._metrics.started(protocol)
        started_s = time.monotonic()
        waiting = True
        try:
            async with aclosing(Generation(request, self._route).deltas()) as deltas:
                async for delta in deltas:
                    if waiting and delta.text:
                        self._metrics.first_text(time.monotonic() - started_s)
                        waiting = False
                    yield delta
            self._metrics.finished(time.monotonic() - started_s)
        except Exception as error:
            raise self._told(request, error) from error

    async def warm(self) -> bool:
        """Whether a worker could start on a request now."""
        try:
            return bool(await remote.answer(self._router.ready.remote(), READY_TIMEOUT_S))
        except Exception as error:
            log.warning("the router does not answer: %s", error)
            return False

    def _told(self, request: GenerationRequest, error: Exception) -> SeerError:
        """The error the caller sees; what is our fault is logged with all we know."""
        ours = seer_error(error)
        self._metrics.failed(answer_of(ours).code)
        if answer_of(ours).http == 500:
            log.error("request %s failed", request.id, exc_info=error)
        return ours

    async def _forecast(self, job: ProbeJob, timeout_s: float) -> Probed:
        probed: Probed = await remote.answer(self._probe.forecast.remote(job), timeout_s)
        return probed

    def _submit(self, job: Job) -> AsyncGenerator[Delta, None]:
        deltas = self._router.options(stream=True).submit.remote(job)
        return remote.items(deltas, job.budget_s + ROUTER_GRACE_S)
