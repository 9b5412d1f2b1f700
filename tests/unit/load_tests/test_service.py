"""The service under test is found, waited for, and its failure to start is told in its own words."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from load_tests.errors import LoadTestError
from load_tests.program import Program
from load_tests.run import first_line
from load_tests.service import CONFIG, free_ports, ray_address, wait_ready
from load_tests.target import Target
from tests.unit.load_tests.fake_service import FakeService, serving

FLAGGED_CHILD = (
    "import subprocess, sys\n"
    "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)', '{flag}'])\n"
    "print('up', flush=True)\n"
    "child.wait()"
)


@pytest.fixture
def nowhere() -> Target:
    http_port, grpc_port = free_ports(2)
    return Target(url=f"http://127.0.0.1:{http_port}", grpc=f"127.0.0.1:{grpc_port}")


@pytest.fixture
def family(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Program]:
    """A program whose child has the given word on its command line."""
    code = FLAGGED_CHILD.format(flag=request.param)
    with Program([sys.executable, "-c", code], log=tmp_path / "log", grace_s=0.2) as program:
        first_line(program, "it did not start")
        assert program.running
        yield program


def test_a_ready_service_is_not_waited_for() -> None:
    with serving(FakeService(busy=range(0))) as target:
        wait_ready(target, timeout_s=0.0)


def test_a_service_that_never_becomes_ready_is_an_error_that_names_its_address(nowhere: Target) -> None:
    with pytest.raises(LoadTestError, match=f"{nowhere.url}/ready was not 200"):
        wait_ready(nowhere, timeout_s=0.0)


def test_a_service_that_ends_at_its_start_is_told_in_its_last_words(nowhere: Target, tmp_path: Path) -> None:
    command = [sys.executable, "-c", "raise SystemExit('no such model')"]
    with Program(command, log=tmp_path / "log") as program, pytest.raises(LoadTestError, match="no such model"):
        wait_ready(nowhere, program)


@pytest.mark.parametrize("family", ["--gcs-address=127.0.0.1:6379"], indirect=True)
def test_the_cluster_of_the_service_is_found_among_its_processes(family: Program) -> None:
    assert ray_address(family) == "127.0.0.1:6379"


@pytest.mark.parametrize("family", ["--nothing"], indirect=True)
def test_a_service_without_a_cluster_is_an_error(family: Program) -> None:
    with pytest.raises(LoadTestError, match="Ray cluster was not found"):
        ray_address(family)


def test_the_configuration_lets_workers_go_from_one_to_two_and_keeps_to_loopback() -> None:
    config = yaml.safe_load(CONFIG.read_text(encoding="utf-8"))
    parts = {part["name"]: part["autoscaling_config"] for part in config["applications"][0]["deployments"]}
    assert config["http_options"]["host"] == "127.0.0.1"
    assert (parts["Worker"]["min_replicas"], parts["Worker"]["max_replicas"]) == (1, 2)
    assert (parts["Router"]["min_replicas"], parts["Router"]["max_replicas"]) == (1, 1)
