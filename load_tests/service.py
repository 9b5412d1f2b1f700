"""The service under test, started for this test on free loopback ports and stopped after it."""

from __future__ import annotations

import re
import socket
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil

from load_tests.errors import LoadTestError
from load_tests.program import Program
from load_tests.target import Target

CONFIG = Path(__file__).parent / "serve_config.yaml"
READY_TIMEOUT_S = 240.0
STOP_TIMEOUT_S = 20.0
ENVIRONMENT = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_ADDRESS": "",
    # On few cores, replicas that fight over them measure the fight.
    "OMP_NUM_THREADS": "1",
    # Ray runs replicas at 15: whatever else this machine does would be measured too.
    "RAY_worker_niceness": "0",
}


@contextmanager
def own_service(logs: Path) -> Iterator[tuple[Target, str]]:
    """A ready service and the address of its Ray cluster. Raises LoadTestError if it does not become ready."""
    http_port, grpc_port = free_ports(2)
    target = Target(url=f"http://127.0.0.1:{http_port}", grpc=f"127.0.0.1:{grpc_port}")
    ports = ["--http-port", str(http_port), "--grpc-port", str(grpc_port)]
    command = [sys.executable, "-m", "deployments", "--config", str(CONFIG), *ports]
    with Program(command, log=logs / "service.log", env=ENVIRONMENT, grace_s=STOP_TIMEOUT_S) as program:
        wait_ready(target, program)
        yield target, ray_address(program)


def free_ports(count: int) -> list[int]:
    """Loopback ports that nobody listens on now."""
    sockets = [socket.socket() for _ in range(count)]
    try:
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [int(one.getsockname()[1]) for one in sockets]
    finally:
        for one in sockets:
            one.close()


def wait_ready(target: Target, program: Program | None = None, timeout_s: float = READY_TIMEOUT_S) -> None:
    """Return once /ready says 200. Raises LoadTestError after `timeout_s`, or as soon as `program` has ended."""
    deadline_s = time.monotonic() + timeout_s
    while not is_ready(target):
        if program is not None and not program.running:
            raise LoadTestError(f"the service ended before it was ready:\n{program.complaint()}")
        if time.monotonic() > deadline_s:
            said = f":\n{program.complaint()}" if program is not None else ""
            raise LoadTestError(f"{target.url}/ready was not 200 within {timeout_s:g} s{said}")
        time.sleep(0.5)


def is_ready(target: Target) -> bool:
    with suppress(OSError, urllib.error.URLError), urllib.request.urlopen(f"{target.url}/ready", timeout=5.0) as reply:
        return bool(reply.status == 200)
    return False


def ray_address(program: Program) -> str:
    """The address of the Ray cluster that `program` started, as its processes carry it. Raises LoadTestError."""
    for process in program.family():
        with suppress(psutil.NoSuchProcess):
            found = re.search(r"--gcs-address=([\w.:\[\]-]+)", " ".join(process.cmdline()))
            if found:
                return found[1]
    raise LoadTestError("the service runs, but its Ray cluster was not found among its processes")
