"""One request up to its one terminal answer: prepare, forecast, route, and try again where a part died.

The ingress holds the request, so whatever dies behind it is repaired from here. A rerun is deterministic: text that
was already sent is skipped if the rerun says the same, and the request ends with an error if it does not.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass, replace

from deployments.job import Job, Probed, ProbeJob
from deployments.parts import Prepare
from seer_core.errors import BudgetExceeded, EngineError, PromptLost, ReplicaLost
from seer_core.prompt import Prompt
from seer_core.types import Delta, GenerationRequest

Forecasting = Callable[[ProbeJob, float], Awaitable[Probed]]
"""Calls a probe; the second argument is the time limit in seconds. Raises SeerError."""

Routing = Callable[[Job], AsyncGenerator[Delta, None]]
"""Calls a router. Raises SeerError."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """The stations of a request. `clock` is monotonic, in seconds; `retried` counts repeated tries."""

    prepare: Prepare
    forecast: Forecasting
    submit: Routing
    clock: Callable[[], float]
    retried: Callable[[], None]
    max_tries: int = 3


class Transcript:
    """What was sent so far, and how a rerun continues it."""

    def __init__(self) -> None:
        self._sent = ""
        self._rerun = ""

    def restart(self) -> None:
        self._rerun = ""

    def fresh(self, text: str) -> str:
        """The part of a try's text that was not sent before. Raises EngineError where the try contradicts it."""
        self._rerun += text
        shorter = min(len(self._rerun), len(self._sent))
        if self._rerun[:shorter] != self._sent[:shorter]:
            raise EngineError("the answer could not be continued after a replica was lost")
        fresh = self._rerun[len(self._sent) :]
        self._sent += fresh
        return fresh


class Generation:
    """The life of one request."""

    def __init__(self, request: GenerationRequest, route: Route) -> None:
        self._request = request
        self._route = route
        self._deadline_s = route.clock() + request.budget_s
        self._transcript = Transcript()

    async def deltas(self) -> AsyncGenerator[Delta, None]:
        """Text as it becomes final; the last delta carries the outcome. Raises SeerError instead of an error delta."""
        prompt = await self._prepared()
        probed: Probed | None = None
        for number in range(1, self._route.max_tries + 1):
            try:
                probed = probed or await self._forecast(prompt)
                async with aclosing(self._try(probed, number)) as deltas:
                    async for delta in deltas:
                        yield delta
                return
            except PromptLost:
                probed = None
            except ReplicaLost:
                if number == self._route.max_tries:
                    raise
            self._route.retried()
            self._transcript.restart()
        raise PromptLost("the stored prompt was lost again and again")

    async def _prepared(self) -> Prompt:
        request = self._request
        return await asyncio.to_thread(self._route.prepare, request.messages, request.sampling.max_tokens)

    async def _forecast(self, prompt: Prompt) -> Probed:
        request = self._request
        job = ProbeJob(prompt=prompt, canvas_tokens=request.sampling.max_tokens, decoding=request.decoding)
        return await self._route.forecast(job, self._left_s())

    async def _try(self, probed: Probed, number: int) -> AsyncGenerator[Delta, None]:
        async with aclosing(self._route.submit(self._job(probed, number))) as deltas:
            async for delta in deltas:
                if delta.error is not None:
                    raise delta.error
                text = self._transcript.fresh(delta.text)
                if text or delta.last:
                    yield replace(delta, id=self._request.id, text=text)
                if delta.last:
                    return
        raise ReplicaLost("the router ended the request without an answer")

    def _job(self, probed: Probed, number: int) -> Job:
        request = self._request
        return Job(
            id=f"{request.id}.{number}",
            probed=probed,
            sampling=request.sampling,
            decoding=request.decoding,
            priority=request.priority,
            budget_s=self._left_s(),
        )

    def _left_s(self) -> float:
        left_s = self._deadline_s - self._route.clock()
        if left_s <= 0:
            raise BudgetExceeded("the request's time budget ran out", field="budget_s")
        return left_s
