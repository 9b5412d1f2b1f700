"""The HTTP face over a scripted service: bodies, events, errors."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from typing import Any

import httpx
import pytest

from deployments import http_api as module
from deployments.http_api import http_api
from seer_core.errors import EngineError, QueueFull, SeerError
from seer_core.types import Delta, GenerationRequest
from tests.unit.deployments.jobs import outcome


class ScriptedService:
    """Says "hel", then "lo", then fails if it is to."""

    model = "tiny"
    calibrated = False

    def __init__(self) -> None:
        self.is_warm = True
        self.refusal: SeerError | None = None
        self.failure: SeerError | None = None
        self.requests: list[GenerationRequest] = []
        self.closed = 0

    async def answer(self, request: GenerationRequest, protocol: str) -> AsyncGenerator[Delta, None]:
        self.requests.append(request)
        if self.refusal is not None:
            raise self.refusal
        try:
            yield Delta(id=request.id, text="hel")
            if self.failure is not None:
                raise self.failure
            yield Delta(id=request.id, text="lo", outcome=outcome("hello"))
        finally:
            self.closed += 1

    async def warm(self) -> bool:
        return self.is_warm


@pytest.fixture
def service() -> ScriptedService:
    return ScriptedService()


@pytest.fixture
def client(service: ScriptedService) -> httpx.AsyncClient:
    return httpx.AsyncClient(transport=httpx.ASGITransport(http_api(service)), base_url="http://seer")


def body(**fields: Any) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": "hi"}], **fields}


async def chat(client: httpx.AsyncClient, **fields: Any) -> httpx.Response:
    return await client.post("/v1/chat/completions", json=body(**fields))


def events(response: httpx.Response) -> list[Any]:
    lines = [line.removeprefix("data: ") for line in response.text.split("\n\n") if line]
    return [line if line == "[DONE]" else json.loads(line) for line in lines]


async def test_a_completion_has_openai_s_shape(client: httpx.AsyncClient, service: ScriptedService) -> None:
    told = (await chat(client, max_tokens=8)).json()
    assert told["object"] == "chat.completion"
    assert told["choices"][0]["message"]["content"] == "hello"
    assert told["choices"][0]["finish_reason"] == "stop"
    assert told["usage"] == {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    assert told["seer"]["canvas_tokens"] == 8
    assert told["id"] == f"chatcmpl-{service.requests[0].id}"
    assert service.closed == 1


async def test_a_stream_is_role_text_reason_and_done(client: httpx.AsyncClient) -> None:
    told = events(await chat(client, stream=True))
    assert told[-1] == "[DONE]"
    deltas = [event["choices"][0]["delta"] for event in told[:-1]]
    assert deltas == [{"role": "assistant", "content": ""}, {"content": "hel"}, {"content": "lo"}, {}]
    assert told[-2]["choices"][0]["finish_reason"] == "stop"
    assert told[-2]["seer"]["steps"] == 1


async def test_usage_comes_last_where_it_is_wanted(client: httpx.AsyncClient) -> None:
    told = events(await chat(client, stream=True, stream_options={"include_usage": True}))
    assert told[-2]["choices"] == []
    assert told[-2]["usage"]["total_tokens"] == 2


async def test_a_failure_before_the_first_text_is_a_status(client: httpx.AsyncClient, service: ScriptedService) -> None:
    service.refusal = QueueFull("full", retry_after_s=2.4)
    for stream in (False, True):
        response = await chat(client, stream=stream)
        assert (response.status_code, response.headers["retry-after"]) == (429, "2")


async def test_a_failure_in_mid_stream_is_an_event(client: httpx.AsyncClient, service: ScriptedService) -> None:
    service.failure = EngineError("it broke")
    told = events(await chat(client, stream=True))
    assert told[-1]["error"]["code"] == "engine_error"
    assert "[DONE]" not in told
    assert service.closed == 1


@pytest.mark.parametrize(
    ("content", "status"), [(b"{", 400), (b"[]", 400), (b"", 400), (b'{"messages": 3}', 400), (b"\xff", 400)]
)
async def test_a_body_that_is_no_request_is_a_400(client: httpx.AsyncClient, content: bytes, status: int) -> None:
    headers = {"content-type": "application/json"}
    response = await client.post("/v1/chat/completions", content=content, headers=headers)
    assert response.status_code == status
    assert response.json()["error"]["type"] == "invalid_request_error"


async def test_a_body_that_is_no_json_is_told_so(client: httpx.AsyncClient) -> None:
    headers = {"content-type": "application/json"}
    told = (await client.post("/v1/chat/completions", content=b'{"messages": ]', headers=headers)).json()["error"]
    assert (told["message"], told["param"]) == ("the body is not JSON: Expecting value at character 13", None)


async def test_a_body_of_another_type_is_told_which_is_read(client: httpx.AsyncClient) -> None:
    headers = {"content-type": "text/plain"}
    for content in (json.dumps(body()), "", "a=b"):
        response = await client.post("/v1/chat/completions", content=content, headers=headers)
        assert (response.status_code, "application/json" in response.json()["error"]["message"]) == (400, True)


async def test_a_path_that_is_not_there_is_told_in_the_same_shape(client: httpx.AsyncClient) -> None:
    response = await client.get("/v1/nothing")
    assert (response.status_code, response.json()["error"]["message"]) == (404, "Not Found")


async def test_an_unknown_model_is_refused(client: httpx.AsyncClient, service: ScriptedService) -> None:
    for response in (await chat(client, model="huge"), await client.get("/v1/models/huge")):
        told = response.json()["error"]
        assert (response.status_code, told["param"], told["code"]) == (404, "model", "model_not_found")
    assert (await chat(client, model="tiny")).status_code == 200


async def test_a_body_that_is_too_large_is_not_read(
    client: httpx.AsyncClient, service: ScriptedService, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MAX_BODY_BYTES", 1000)
    small = httpx.AsyncClient(transport=httpx.ASGITransport(http_api(service)), base_url="http://seer")
    assert (await chat(small, user="x" * 2000)).status_code == 413
    assert (await chat(small)).status_code == 200


async def test_readiness_follows_the_workers_and_health_does_not(
    client: httpx.AsyncClient, service: ScriptedService
) -> None:
    assert (await client.get("/ready")).status_code == 200
    service.is_warm = False
    cold = await client.get("/ready")
    assert (cold.status_code, "retry-after" in cold.headers) == (503, True)
    assert (await client.get("/health")).status_code == 200


async def test_the_other_pages_are_there(client: httpx.AsyncClient) -> None:
    listed = (await client.get("/v1/models")).json()["data"][0]
    assert (await client.get("/v1/models/tiny")).json() == listed
    assert (listed["id"], listed["seer"]["calibrated"]) == ("tiny", False)
    assert (await client.get("/docs")).status_code == 200
    schema = (await client.get("/openapi.json")).json()
    assert "/v1/chat/completions" in schema["paths"]
    front = await client.get("/")
    assert front.status_code in (200, 307)
