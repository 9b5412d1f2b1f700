"""Jobs and a scripted way to workers, for the tests of what lies between ingress and worker."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Collection, Sequence
from contextlib import asynccontextmanager

from deployments.job import Job, Probed
from seer_core.types import Decoding, Delta, Outcome, Sampling, Usage
from tests.scripted import SpokenPrompt, foreseen


def job(number: int | str, words: int = 3, *, budget_s: float = 10.0, text: str | None = None) -> Job:
    prompt = SpokenPrompt(text or " ".join(["word"] * words))
    return Job(
        id=str(number),
        probed=Probed(
            forecast=foreseen(prompt.length_tokens, 64), prompt_ref=prompt, prompt_tokens=prompt.length_tokens
        ),
        sampling=Sampling(max_tokens=64),
        decoding=Decoding(),
        priority=0,
        budget_s=budget_s,
    )


def outcome(text: str = "done") -> Outcome:
    return Outcome(
        text=text,
        tokens=(1,),
        finish_reason="stop",
        forecast_tokens=1,
        canvas_tokens=8,
        kept_tokens=1,
        steps=1,
        regrown=0,
        usage=Usage(prompt_tokens=1, completion_tokens=1),
        path="eager",
        detector="scripted",
    )


def ended(job_id: str, text: str = "done") -> Delta:
    return Delta(id=job_id, text=text, outcome=outcome(text))


Script = Callable[[Sequence[Job]], AsyncGenerator[list[Delta], None]]


class ScriptedDispatcher:
    """Workers that do as a script says. `rows` is what every slot reports; `gate` holds back slots until it is set."""

    def __init__(self, script: Script, *, rows: int = 4) -> None:
        self.script = script
        self.free_rows = rows
        self.gate = asyncio.Event()
        self.gate.set()
        self.groups: list[list[str]] = []
        self.cancelled: list[str] = []
        self.open_slots = 0

    @asynccontextmanager
    async def slot(self) -> AsyncIterator[ScriptedDispatcher]:
        await self.gate.wait()
        self.open_slots += 1
        try:
            yield self
        finally:
            self.open_slots -= 1

    def run(self, jobs: Sequence[Job]) -> AsyncGenerator[list[Delta], None]:
        self.groups.append([one.id for one in jobs])
        return self.script(jobs)

    async def room(self) -> None:
        await asyncio.sleep(0.01)

    async def cancel(self, ids: Collection[str]) -> None:
        self.cancelled += ids

    async def ready(self) -> bool:
        return True


async def soon(condition: Callable[[], bool], limit_s: float = 5.0) -> None:
    """Return once the condition holds; fail if it never does."""
    async with asyncio.timeout(limit_s):
        while not condition():
            await asyncio.sleep(0.005)


async def all_of(deltas: AsyncIterator[Delta]) -> list[Delta]:
    return [delta async for delta in deltas]


async def gathered(*runs: Awaitable[list[Delta]]) -> list[list[Delta]]:
    return list(await asyncio.gather(*runs))
