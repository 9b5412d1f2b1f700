"""The four deployments bound together in Ray's local testing mode: one process, no cluster."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from seer_core.errors import BudgetExceeded, EngineError, InvalidRequest, SeerError
from seer_core.types import Decoding, GenerationRequest, Message, Outcome, Sampling
from tests.scripted import ScriptedParts


@pytest.fixture(scope="module")
def service() -> Any:
    """The ingress' handle."""
    from ray import serve

    from deployments.app import AppArgs, assemble

    application = assemble(AppArgs(stall_s=5.0), ScriptedParts(step_s=0.002), local=True)
    return serve.run(application, _local_testing_mode=True)


def asked(text: str, *, number: int = 0, budget_s: float = 20.0, decoding: Decoding | None = None) -> GenerationRequest:
    return GenerationRequest(
        id=f"r{number}",
        messages=(Message(role="user", text=text),),
        sampling=Sampling(max_tokens=64, seed=1),
        decoding=decoding or Decoding(),
        budget_s=budget_s,
    )


async def answered(service: Any, request: GenerationRequest) -> tuple[list[str], Outcome]:
    texts, outcome = [], None
    async for delta in service.options(stream=True).answer.remote(request, "test"):
        texts.append(delta.text)
        outcome = delta.outcome
    assert outcome is not None
    return texts, outcome


async def refused(service: Any, request: GenerationRequest) -> SeerError:
    with pytest.raises(SeerError) as caught:
        await answered(service, request)
    return caught.value


async def test_an_answer_travels_through_all_four_deployments(service: Any) -> None:
    texts, outcome = await answered(service, asked("the quick brown fox"))
    assert "".join(texts) == outcome.text == "the quick brown fox"
    assert outcome.forecast_tokens == 4


async def test_many_requests_at_once_each_get_their_own_answer(service: Any) -> None:
    questions = [" ".join([f"w{number}"] * (1 + number % 5)) for number in range(24)]
    answers = await asyncio.gather(*(answered(service, asked(text, number=i)) for i, text in enumerate(questions)))
    assert [outcome.text for _, outcome in answers] == questions


async def test_a_failing_row_fails_only_itself(service: Any) -> None:
    bad, good = await asyncio.gather(
        refused(service, asked("some BOOM")), answered(service, asked("all is well", number=1))
    )
    assert isinstance(bad, InvalidRequest)
    assert good[1].text == "all is well"


async def test_a_crashed_step_is_an_answer_and_the_worker_lives_on(service: Any) -> None:
    assert isinstance(await refused(service, asked("so CRASH")), EngineError)
    assert (await answered(service, asked("still here", number=1)))[1].text == "still here"


async def test_an_option_the_probe_refuses_is_told_to_the_caller(service: Any) -> None:
    error = await refused(service, asked("x", decoding=Decoding(detector="unknown")))
    assert isinstance(error, InvalidRequest)
    assert error.field == "detector"


async def test_a_budget_that_runs_out_ends_the_request(service: Any) -> None:
    words = " ".join(["slow"] * 60)
    assert isinstance(await refused(service, asked(words, budget_s=0.05)), BudgetExceeded)


async def test_the_service_is_warm(service: Any) -> None:
    assert await service.warm.remote() is True
