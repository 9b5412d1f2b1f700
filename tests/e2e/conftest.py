"""One real service for all end-to-end tests: `python -m deployments` on free loopback ports, ended by Ctrl-C."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import psutil
import pytest

from deployments.process_tree import descendants

ROOT = Path(__file__).parents[2]
READY_S = 240.0


@dataclass(frozen=True)
class RunningService:
    """A service that is ready, and its process."""

    process: subprocess.Popen[bytes]
    http_port: int
    grpc_port: int
    log: Path

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.http_port}"

    @property
    def grpc_address(self) -> str:
        return f"127.0.0.1:{self.grpc_port}"

    def processes(self) -> set[psutil.Process]:
        return descendants(self.process.pid)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def start(log: Path, config: Path = ROOT / "serve_config.yaml") -> RunningService:
    """Start the service and wait until a worker is warm; one that is not in time is ended."""
    http_port, grpc_port = free_port(), free_port()
    ports = ["--http-port", str(http_port), "--grpc-port", str(grpc_port)]
    command = [sys.executable, "-m", "deployments", "--config", str(config), *ports]
    environment = os.environ | {"RAY_AUTH_MODE": "disabled", "OMP_NUM_THREADS": "1", "RAY_ADDRESS": ""}
    with log.open("wb") as output:
        process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=output, stderr=subprocess.STDOUT)
    service = RunningService(process=process, http_port=http_port, grpc_port=grpc_port, log=log)
    try:
        wait_ready(service)
    except AssertionError:
        if process.poll() is None:
            stop(service, 60.0)
        raise
    return service


def wait_ready(service: RunningService) -> None:
    deadline_s = time.monotonic() + READY_S
    while "ready after" not in service.log.read_text():
        assert service.process.poll() is None, service.log.read_text()
        assert time.monotonic() < deadline_s, service.log.read_text()
        time.sleep(0.2)


def stop(service: RunningService, limit_s: float) -> float:
    """Ctrl-C; the seconds it took."""
    started_s = time.monotonic()
    service.process.send_signal(signal.SIGINT)
    service.process.wait(limit_s)
    return time.monotonic() - started_s


@pytest.fixture(scope="session")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningService]:
    running = start(tmp_path_factory.mktemp("service") / "service.log")
    yield running
    if running.process.poll() is None:
        stop(running, 60.0)


@pytest.fixture
def http(service: RunningService) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=service.url, timeout=60.0) as client:
        yield client


@pytest.fixture
def alive(service: RunningService, http: httpx.Client) -> Iterator[Callable[[], None]]:
    """After the test, the service must still be there and ready."""

    def check() -> None:
        assert service.process.poll() is None, service.log.read_text()
        assert http.get("/ready").status_code == 200

    yield check
    check()
