"""What is wrong with a configuration is said before anything is started, or as soon as a replica says it."""

from __future__ import annotations

import socket
from pathlib import Path
from typing import Any

import pytest

from deployments.local_service import LocalService, check, check_port, config_error_in, read_config
from seer_core.errors import ConfigError

SEER = {"name": "seer", "route_prefix": "/", "import_path": "deployments.app:build"}


def read(path: Path, **address: Any) -> dict[str, Any]:
    return read_config(path, **{"host": None, "http_port": None, "grpc_port": None, **address})


def test_the_address_given_goes_before_the_files(tmp_path: Path) -> None:
    path = tmp_path / "config.yaml"
    path.write_text("http_options:\n  port: 1\ngrpc_options:\n")
    config = read(path, http_port=2)
    assert config["http_options"] == {"host": "127.0.0.1", "port": 2}
    assert config["grpc_options"] == {"port": 9000}


@pytest.mark.parametrize("text", ["a: [b", "", "[1]", "http_options: 5", "grpc_options: [1]", "\0"])
def test_a_file_that_is_no_configuration_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "config.yaml"
    path.write_text(text)
    with pytest.raises(ConfigError):
        read(path)


@pytest.mark.parametrize(
    ("config", "named"),
    [
        ({"proxy_location": "Nowhere"}, "proxy_location"),
        ({"applications": 5}, "applications"),
        ({"applications": [SEER | {"args": {"devce": "cpu"}}]}, "device"),
        ({"applications": [SEER | {"args": {"model": "/no/such/folder"}}]}, "/no/such/folder"),
    ],
)
def test_a_configuration_that_cannot_work_is_refused_by_name(config: dict[str, Any], named: str) -> None:
    with pytest.raises(ConfigError, match=named):
        check({"applications": [], **config})


def test_a_checkpoint_without_its_tokenizer_is_refused_before_the_start(tmp_path: Path) -> None:
    for file in (Path(__file__).parents[3] / "seer_core" / "embedded" / "checkpoint").iterdir():
        if file.name != "tokenizer.json":
            (tmp_path / file.name).symlink_to(file)
    with pytest.raises(ConfigError, match=r"tokenizer\.json"):
        check({"applications": [SEER | {"args": {"model": str(tmp_path)}}]})


def test_a_port_in_use_is_named() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(ConfigError, match=f"HTTP port {port}"):
            check_port("HTTP", "127.0.0.1", port)
        with pytest.raises(ConfigError, match=f"gRPC port {port}"):
            check_port("gRPC", "0.0.0.0", port)
    check_port("HTTP", "127.0.0.1", port)
    with pytest.raises(ConfigError, match="99999"):
        check_port("HTTP", "127.0.0.1", 99999)


def test_a_service_on_a_port_in_use_starts_nothing() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        options = {"host": "127.0.0.1", "port": taken.getsockname()[1]}
        service = LocalService({"applications": [], "http_options": options, "grpc_options": {"port": 0}})
        with pytest.raises(ConfigError, match="cannot be used"):
            service.start()
        service.stop()


def test_what_a_replica_found_wrong_is_dug_out_of_its_traceback() -> None:
    told = """A replica failed to start with exception. Retrying 2 more time(s). Error:
    raise WeightsError(f"the tensors in {folder} do not fit")
seer_core.errors.WeightsError: the tensors in /m do not fit this model; unknown: wrong.key"""
    assert config_error_in(told) == "the tensors in /m do not fit this model; unknown: wrong.key"
    assert config_error_in("Error: the replica died") is None


def test_an_interrupted_start_ends_without_a_second_ray(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(**_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("ray.init", interrupted)
    monkeypatch.setattr("ray.serve.context._get_global_client", lambda: pytest.fail("this would start a Ray"))
    service = LocalService({"applications": [], "http_options": {"port": 0}, "grpc_options": {"port": 0}})
    with pytest.raises(KeyboardInterrupt):
        service.start()
    service.stop()
