"""A real service on a folder in a published layout: over both protocols the tokens that one process gives.

It has a Ray of its own beside the shared service's.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import grpc
import httpx
import pytest
import yaml

from deployments.proto import seer_pb2, seer_pb2_grpc
from seer_core.pipeline import Pipeline
from seer_core.types import GenerationRequest, Message, Outcome, Sampling
from tests.e2e.conftest import ROOT, RunningService, start, stop
from tests.golden import weights
from tests.golden.byte_tokenizer import write_tokenizer

pytestmark = pytest.mark.timeout(400)

PICTURE = (ROOT / "tests" / "golden" / "cases" / "images" / "square_300x300.png").read_bytes()
PROMPT = "What is it?"
MAX_TOKENS = 12


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dimple")
    weights.write("dimple", str(folder), 0, {})  # type: ignore[no-untyped-call]
    write_tokenizer("dimple", folder)
    return folder


@pytest.fixture(scope="module")
def expected(checkpoint: Path) -> Outcome:
    message = Message(role="user", text=PROMPT, images=(PICTURE,))
    request = GenerationRequest(id="alone", messages=(message,), sampling=Sampling(max_tokens=MAX_TOKENS))
    (outcome,) = Pipeline.load(checkpoint, loop="dream").generate([request])
    return outcome


@pytest.fixture(scope="module")
def own(checkpoint: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningService]:
    config: Any = yaml.safe_load((ROOT / "serve_config.yaml").read_text())
    config["applications"][0]["args"] = {"model": str(checkpoint), "model_name": "dimple", "loop": "dream"}
    path = tmp_path_factory.mktemp("own") / "config.yaml"
    path.write_text(yaml.safe_dump(config))
    running = start(path.with_name("service.log"), path)
    yield running
    stop(running, 60.0)


def test_http_and_grpc_give_the_command_lines_tokens(own: RunningService, expected: Outcome) -> None:
    url = "data:image/png;base64," + base64.b64encode(PICTURE).decode()
    parts = [{"type": "text", "text": PROMPT}, {"type": "image_url", "image_url": {"url": url}}]
    body = {"messages": [{"role": "user", "content": parts}], "max_tokens": MAX_TOKENS}
    with httpx.Client(base_url=own.url, timeout=60.0) as client:
        answer = client.post("/v1/chat/completions", json=body).json()
        listed = client.get("/v1/models").json()["data"][0]
    assert answer["seer"]["tokens"] == list(expected.tokens)
    assert answer["choices"][0]["message"]["content"] == expected.text
    assert (listed["id"], listed["seer"]["calibrated"]) == ("dimple", False)
    message = seer_pb2.Message(role="user", text=PROMPT, images=[PICTURE])
    asked = seer_pb2.GenerateRequest(messages=[message], max_tokens=MAX_TOKENS)
    with grpc.insecure_channel(own.grpc_address) as channel:
        stub: Any = seer_pb2_grpc.SeerStub(channel)  # type: ignore[no-untyped-call]
        told = stub.Generate(asked, timeout=60)
    assert tuple(told.outcome.tokens) == expected.tokens
    assert told.text == expected.text
