"""The service on a real-layout checkpoint of every family: one question with an image, as the command line answers it.

The deployments run in Ray's local testing mode and are asked through the HTTP application; `tests/e2e` has a cluster.
"""

from __future__ import annotations

import base64
from collections.abc import AsyncGenerator, Callable
from functools import cache
from pathlib import Path
from typing import Any

import httpx
import pytest

from deployments.app import assemble, checked
from deployments.checkpoint_parts import CheckpointParts
from deployments.http_api import http_api
from seer_core.errors import ConfigError
from seer_core.pipeline import Pipeline
from seer_core.types import Delta, GenerationRequest, Message, Outcome, Sampling
from tests.golden.conftest import CASES

FAMILIES = ("lavida_llada", "lavida_dream", "llada_v", "mmada", "dimple")
PICTURE = (CASES / "images" / "square_300x300.png").read_bytes()
PROMPT = "What is it?"
MAX_TOKENS = 12


class Served:
    """The ingress behind its handle, as the HTTP application wants it."""

    def __init__(self, handle: Any, parts: CheckpointParts) -> None:
        self.model, self.calibrated = parts.model_name, parts.calibrated
        self._handle = handle

    async def answer(self, request: GenerationRequest, protocol: str) -> AsyncGenerator[Delta, None]:
        async for delta in self._handle.options(stream=True).answer.remote(request, protocol):
            yield delta

    async def warm(self) -> bool:
        return bool(await self._handle.warm.remote())


def serve_locally(args: dict[str, Any]) -> httpx.AsyncClient:
    from ray import serve

    valid = checked(args)
    parts = valid.working_parts()
    handle = serve.run(assemble(valid, parts, local=True), _local_testing_mode=True)
    return httpx.AsyncClient(transport=httpx.ASGITransport(http_api(Served(handle, parts))), base_url="http://seer")


@cache
def alone(folder: Path) -> Outcome:
    """What the command line answers."""
    message = Message(role="user", text=PROMPT, images=(PICTURE,))
    request = GenerationRequest(id="alone", messages=(message,), sampling=Sampling(max_tokens=MAX_TOKENS))
    (outcome,) = Pipeline.load(folder).generate([request])
    return outcome


def question(**fields: Any) -> dict[str, Any]:
    url = "data:image/png;base64," + base64.b64encode(PICTURE).decode()
    parts = [{"type": "text", "text": PROMPT}, {"type": "image_url", "image_url": {"url": url}}]
    return {"messages": [{"role": "user", "content": parts}], "max_tokens": MAX_TOKENS, **fields}


@pytest.mark.parametrize("family", FAMILIES)
async def test_the_service_answers_with_the_command_lines_tokens(
    family: str, seeing_checkpoint: Callable[[str], Path]
) -> None:
    folder = seeing_checkpoint(family)
    expected = alone(folder)
    async with serve_locally({"model": str(folder), "model_name": family}) as client:
        whole = (await client.post("/v1/chat/completions", json=question(), timeout=60)).json()
        streamed = await client.post("/v1/chat/completions", json=question(stream=True), timeout=60)
        listed = (await client.get("/v1/models")).json()["data"][0]
    assert whole["seer"]["tokens"] == list(expected.tokens)
    assert whole["seer"]["steps"] == expected.steps
    assert whole["choices"][0]["message"]["content"] == expected.text
    assert whole["usage"]["prompt_tokens"] == expected.usage.prompt_tokens > 100
    assert streamed.text.rstrip().endswith("data: [DONE]")
    assert f'"tokens":{str(list(expected.tokens)).replace(" ", "")}' in streamed.text
    assert (listed["id"], listed["seer"]) == (family, {"calibrated": False})


def test_a_family_or_a_loop_that_is_none_is_refused_before_the_start(seeing_checkpoint: Callable[[str], Path]) -> None:
    folder = str(seeing_checkpoint("dimple"))
    for args, near in (({"loop": "dreams"}, "did you mean 'dream'"), ({"family": "dimpel"}, "did you mean 'dimple'")):
        with pytest.raises(ConfigError, match=near):
            checked({"model": folder, **args}).working_parts()
    assert checked({"model": folder, "family": "dimple", "loop": "dream"}).working_parts().loop == "dream"
