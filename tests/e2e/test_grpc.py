"""A plain gRPC client against the real service."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc

from deployments.proto import seer_pb2, seer_pb2_grpc
from tests.e2e.conftest import ROOT, RunningService
from tests.e2e.scene import MAX_TOKENS, expected, question

pytestmark = [pytest.mark.timeout(300), pytest.mark.usefixtures("alive")]


@pytest.fixture
def channel(service: RunningService) -> Iterator[grpc.Channel]:
    with grpc.insecure_channel(service.grpc_address) as channel:
        yield channel


@pytest.fixture
def stub(channel: grpc.Channel) -> Any:
    return seer_pb2_grpc.SeerStub(channel)  # type: ignore[no-untyped-call]


def request(**fields: Any) -> seer_pb2.GenerateRequest:
    image, prompt = question()
    message = seer_pb2.Message(role="user", text=prompt, images=[image])
    return seer_pb2.GenerateRequest(**{"messages": [message], "max_tokens": MAX_TOKENS, **fields})


def refusal(call: Any) -> tuple[grpc.StatusCode, str, dict[str, Any]]:
    with pytest.raises(grpc.RpcError) as caught:
        list(call) if hasattr(call, "__iter__") else call()
    error: Any = caught.value
    return error.code(), error.details(), dict(error.trailing_metadata())


def test_generate_gives_the_pipelines_tokens(stub: Any) -> None:
    answer = stub.Generate(request(), timeout=60)
    assert answer.text == expected().text
    assert tuple(answer.outcome.tokens) == expected().tokens
    assert answer.outcome.finish_reason == expected().finish_reason
    assert answer.outcome.usage.prompt_tokens == expected().usage.prompt_tokens


def test_generate_stream_gives_the_same_text_and_ends_with_the_outcome(stub: Any) -> None:
    chunks = list(stub.GenerateStream(request(), timeout=60))
    assert "".join(chunk.text for chunk in chunks) == expected().text
    assert [chunk.HasField("outcome") for chunk in chunks] == [False] * (len(chunks) - 1) + [True]


def test_an_error_has_code_details_and_metadata(stub: Any) -> None:
    code, details, trailers = refusal(lambda: stub.Generate(request(max_tokens=-1), timeout=60))
    assert code == grpc.StatusCode.INVALID_ARGUMENT
    assert "max_tokens" in details
    assert (trailers["seer-error-code"], trailers["seer-error-field"]) == ("invalid_request", "max_tokens")


def test_an_error_of_a_stream_has_its_code_too(stub: Any) -> None:
    bad = seer_pb2.Message(role="user", text="x", images=[b"no image"])
    code, details, _ = refusal(stub.GenerateStream(request(messages=[bad]), timeout=60))
    assert code == grpc.StatusCode.INVALID_ARGUMENT
    assert "image" in details


def test_a_budget_that_cannot_be_met_is_deadline_exceeded(stub: Any) -> None:
    assert refusal(lambda: stub.Generate(request(budget_s=0.001), timeout=60))[0] == grpc.StatusCode.DEADLINE_EXCEEDED


def test_the_service_is_serving(channel: grpc.Channel) -> None:
    states = health_pb2.HealthCheckResponse
    health = health_pb2_grpc.HealthStub(channel)
    assert health.Check(health_pb2.HealthCheckRequest(), timeout=30).status == states.SERVING
    unknown = health.Check(health_pb2.HealthCheckRequest(service="no.such.Service"), timeout=30)
    assert unknown.status == states.SERVICE_UNKNOWN


def test_reflection_lists_the_service(channel: grpc.Channel) -> None:
    stub = reflection_pb2_grpc.ServerReflectionStub(channel)
    asked = iter([reflection_pb2.ServerReflectionRequest(list_services="")])
    (answer,) = stub.ServerReflectionInfo(asked, timeout=30)
    names = {service.name for service in answer.list_services_response.service}
    assert {"seer.v1.Seer", "grpc.health.v1.Health"} <= names


def test_the_command_line_client_prints_the_text_and_one_json_line(service: RunningService, tmp_path: Path) -> None:
    image, prompt = question()
    (tmp_path / "scene.png").write_bytes(image)
    command = [sys.executable, "-m", "deployments.client", "--address", service.grpc_address]
    arguments = ["--image", str(tmp_path / "scene.png"), "--prompt", prompt, "--max-tokens", str(MAX_TOKENS)]
    done = subprocess.run([*command, *arguments], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.startswith(expected().text)
    assert '"finish_reason"' in done.stdout.splitlines()[-1]
