"""Connects waiting requests to workers: the pure routing policy, a clock, a dispatcher and one queue per member.

Knows nothing of Serve. Its tasks start in empty contexts: a task born in a request's context would die with that
request, and everyone's queue with it.
"""

from __future__ import annotations

import asyncio
import contextvars
import logging
from collections.abc import AsyncGenerator, Callable, Coroutine, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import Any

from deployments.dispatcher import Dispatcher, Slot
from deployments.errors import seer_error
from deployments.job import Job
from deployments.metrics import RouterMetrics
from deployments.work_meter import WorkMeter
from seer_core.errors import BudgetExceeded, EngineError, SeerError
from seer_core.router import Router
from seer_core.router.admission import predicted_steps
from seer_core.types import Delta, Group, Ticket

log = logging.getLogger("ray.serve")

PAUSE_AFTER_FAILURE_S = 0.1


@dataclass(slots=True, kw_only=True, eq=False)
class Member:
    """A request on the switchboard: its job, and the queue its caller reads."""

    job: Job
    ticket: Ticket
    joined_s: float
    inbox: asyncio.Queue[Delta] = field(default_factory=asyncio.Queue)
    sent_s: float | None = None
    ended: bool = False


class Switchboard:
    """One router: members wait in the policy, leave it in groups, and each reads its own deltas."""

    def __init__(
        self,
        policy: Router,
        dispatcher: Dispatcher,
        *,
        clock: Callable[[], float],
        meter: WorkMeter,
        metrics: RouterMetrics,
    ) -> None:
        self._policy = policy
        self._dispatcher = dispatcher
        self._clock = clock
        self._meter = meter
        self._metrics = metrics
        self._members: dict[str, Member] = {}
        self._work = asyncio.Event()
        self._feeder: asyncio.Task[None] | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def work_steps(self) -> float:
        """Predicted denoising steps of all members, waiting and running."""
        return sum(predicted_steps(member.ticket) for member in self._members.values())

    def wanted_workers(self, drain_s: float) -> float:
        return self._meter.wanted_workers(self.work_steps, drain_s)

    async def submit(self, job: Job) -> AsyncGenerator[Delta, None]:
        """The deltas of one job; the last one carries the outcome or the error. Closing early cancels the job."""
        now = self._clock()
        member = Member(job=job, ticket=job.ticket(now), joined_s=now)
        try:
            self._policy.submit(member.ticket, now)
        except SeerError as error:
            yield Delta(id=job.id, text="", error=error)
            return
        self._members[job.id] = member
        self._wake()
        try:
            while not member.ended:
                delta = await self._next(member)
                member.ended = delta.last
                yield delta
        finally:
            self._leave(member)

    async def _next(self, member: Member) -> Delta:
        try:
            return await asyncio.wait_for(member.inbox.get(), member.ticket.deadline_s - self._clock())
        except TimeoutError:
            self._drop(member)
            text = "in the queue" if member.sent_s is None else "while the answer was written"
            error = BudgetExceeded(f"the request's time budget ran out {text}", field="budget_s")
            return Delta(id=member.job.id, text="", error=error)

    def _leave(self, member: Member) -> None:
        self._members.pop(member.job.id, None)
        if not member.ended:
            self._drop(member)

    def _drop(self, member: Member) -> None:
        """Forget a member that will not be served: out of the queue, or out of its worker."""
        member.ended = True
        self._policy.cancel([member.job.id])
        if member.sent_s is not None:
            self._spawn(self._cancel([member.job.id]))

    async def _cancel(self, ids: Sequence[str]) -> None:
        try:
            await self._dispatcher.cancel(ids)
        except Exception:
            log.warning("could not tell the workers to cancel %s", ids, exc_info=True)

    def _wake(self) -> None:
        self._work.set()
        if self._feeder is None or self._feeder.done():
            self._feeder = self._spawn(self._feed())

    def _spawn(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.get_running_loop().create_task(work, context=contextvars.Context())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def _feed(self) -> None:
        while True:
            await self._work.wait()
            try:
                await self._send_next()
            except Exception:
                log.warning("no worker could be reached", exc_info=True)
                await asyncio.sleep(PAUSE_AFTER_FAILURE_S)

    async def _send_next(self) -> None:
        """Reserve a slot, then form the group for it: the later the choice, the fuller the group."""
        async with AsyncExitStack() as stack:
            slot = await stack.enter_async_context(self._dispatcher.slot())
            self._policy.expire(self._clock())
            group = self._policy.next_group(slot.free_rows, self._clock())
            if not len(self._policy):
                self._work.clear()
            if group is not None:
                members = self._called(group)
                self._spawn(self._run(stack.pop_all(), slot, members))
                return
        if self._work.is_set():
            await self._dispatcher.room()

    def _called(self, group: Group) -> dict[str, Member]:
        now = self._clock()
        members = {ticket.id: self._members[ticket.id] for ticket in group.tickets}
        for member in members.values():
            member.sent_s = now
            self._metrics.waited(group.bucket_tokens, now - member.joined_s)
        self._metrics.grouped(len(members))
        return members

    async def _run(self, stack: AsyncExitStack, slot: Slot, members: dict[str, Member]) -> None:
        """One group to its end. Whatever happens, every member gets its one last delta."""
        left = dict(members)
        error: SeerError = EngineError("the worker ended the group without an answer")
        try:
            async with stack:
                async for deltas in slot.run([member.job for member in members.values()]):
                    self._deliver(deltas, left)
        except Exception as failure:
            error = seer_error(failure)
            foreign = not isinstance(failure, SeerError)
            log.warning("a group of %d ended early: %s", len(members), failure, exc_info=foreign)
        if left:
            await self._cancel(list(left))
        for job_id, member in left.items():
            member.inbox.put_nowait(Delta(id=job_id, text="", error=error))

    def _deliver(self, deltas: Sequence[Delta], left: dict[str, Member]) -> None:
        for delta in deltas:
            member = left.get(delta.id)
            if member is None:
                continue
            if delta.last:
                del left[delta.id]
                if delta.outcome is not None and member.sent_s is not None:
                    self._meter.finished(delta.outcome, self._clock() - member.sent_s)
            member.inbox.put_nowait(delta)
