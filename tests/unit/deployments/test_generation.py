"""One request to its one terminal answer, whatever dies on the way."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Callable, Sequence

import pytest

from deployments.generation import Generation, Route
from deployments.job import Job, Probed, ProbeJob
from seer_core.errors import BudgetExceeded, EngineError, InvalidRequest, PromptLost, ReplicaLost
from seer_core.prompt import Prompt
from seer_core.types import Delta, GenerationRequest, Message, Sampling
from tests.scripted import foreseen, prepare
from tests.unit.deployments.jobs import all_of, ended

Try = Callable[[Job], Sequence[Delta | Exception]]
"""What the router does with one job: deltas, then perhaps its death."""


def says(*texts: str) -> Try:
    whole = "".join(texts)
    return lambda job: [*(Delta(id=job.id, text=text) for text in texts[:-1]), ended(job.id, texts[-1] or whole)]


def says_then(error: Exception, *texts: str) -> Try:
    return lambda job: [*(Delta(id=job.id, text=text) for text in texts), Delta(id=job.id, text="", error=error)]


def breaks(*texts: str) -> Try:
    return lambda job: [*(Delta(id=job.id, text=text) for text in texts), ReplicaLost("router died")]


class Script:
    """Stations that do what they are told, one entry a try."""

    def __init__(self, *tries: Try, probes: Sequence[Exception | None] = (None,)) -> None:
        self.tries = list(tries)
        self.probes = list(probes)
        self.jobs: list[Job] = []
        self.probed = 0
        self.retries = 0
        self.now_s = 0.0

    def route(self) -> Route:
        return Route(
            prepare=prepare,
            forecast=self.forecast,
            submit=self.submit,
            clock=lambda: self.now_s,
            retried=self.count_retry,
        )

    async def forecast(self, job: ProbeJob, timeout_s: float) -> Probed:
        assert timeout_s > 0
        failure = self.probes[min(self.probed, len(self.probes) - 1)]
        self.probed += 1
        if failure is not None:
            raise failure
        return Probed(forecast=foreseen(2, job.canvas_tokens), prompt_ref=self.probed, prompt_tokens=2)

    async def submit(self, job: Job) -> AsyncGenerator[Delta, None]:
        self.jobs.append(job)
        for item in self.tries[len(self.jobs) - 1](job):
            if isinstance(item, Exception):
                raise item
            yield item

    def count_retry(self) -> None:
        self.retries += 1

    async def answer(self, budget_s: float = 10.0) -> list[Delta]:
        request = GenerationRequest(
            id="r1", messages=(Message(role="user", text="hi"),), sampling=Sampling(max_tokens=8), budget_s=budget_s
        )
        return await all_of(Generation(request, self.route()).deltas())


def text(deltas: Sequence[Delta]) -> str:
    return "".join(delta.text for delta in deltas)


async def test_the_deltas_carry_the_id_of_the_request() -> None:
    deltas = await Script(says("he", "llo")).answer()
    assert text(deltas) == "hello"
    assert {delta.id for delta in deltas} == {"r1"}
    assert deltas[-1].outcome is not None


async def test_a_lost_replica_is_retried_with_the_same_forecast() -> None:
    script = Script(breaks(), says("he", "llo"))
    assert text(await script.answer()) == "hello"
    assert [job.id for job in script.jobs] == ["r1.1", "r1.2"]
    assert (script.probed, script.retries) == (1, 1)


async def test_a_rerun_continues_where_the_stream_broke() -> None:
    script = Script(breaks("he", "l"), says("hel", "lo"))
    assert [delta.text for delta in await script.answer()] == ["he", "l", "lo"]


async def test_a_rerun_that_contradicts_what_was_sent_is_an_error() -> None:
    with pytest.raises(EngineError, match="could not be continued"):
        await Script(breaks("he"), says("ha", "llo")).answer()


async def test_a_lost_prompt_is_probed_once_more() -> None:
    script = Script(says_then(PromptLost("gone")), says("he", "llo"))
    assert text(await script.answer()) == "hello"
    assert [job.probed.prompt_ref for job in script.jobs] == [1, 2]


async def test_a_lost_probe_is_retried() -> None:
    script = Script(says("he", "llo"), probes=[ReplicaLost("probe died"), None])
    assert text(await script.answer()) == "hello"
    assert script.probed == 2


async def test_tries_are_bounded() -> None:
    script = Script(breaks(), breaks(), breaks(), breaks())
    with pytest.raises(ReplicaLost):
        await script.answer()
    assert len(script.jobs) == 3


async def test_an_error_of_the_request_is_not_retried() -> None:
    script = Script(says_then(InvalidRequest("no")))
    with pytest.raises(InvalidRequest):
        await script.answer()
    assert len(script.jobs) == 1


async def test_a_router_that_ends_without_an_answer_is_a_lost_replica() -> None:
    script = Script(lambda job: [], says("he", "llo"))
    assert text(await script.answer()) == "hello"


async def test_tries_share_one_budget() -> None:
    script = Script(breaks(), says("x", "y"))

    def late(job: Job) -> Sequence[Delta | Exception]:
        script.now_s = 11.0
        return [ReplicaLost("after a long while")]

    script.tries[0] = late
    with pytest.raises(BudgetExceeded):
        await script.answer(budget_s=10.0)
    assert script.jobs[0].budget_s == 10.0


async def test_a_slow_preparation_does_not_stop_the_others() -> None:
    def slow(messages: Sequence[Message], canvas_tokens: int) -> Prompt:
        time.sleep(0.05)
        return prepare(messages, canvas_tokens)

    script = Script(says("he", "llo"))
    route = script.route()
    object.__setattr__(route, "prepare", slow)
    request = GenerationRequest(id="r1", messages=(Message(role="user", text="hi"),))
    deltas = Generation(request, route).deltas()
    assert text(await all_of(deltas)) == "hello"
