"""The service of one configuration file on a small Ray of its own: start it, wait for it, end it without a trace."""

from __future__ import annotations

import logging
import os
import re
import secrets
import socket
import time
import urllib.error
import urllib.request
import warnings
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml
from pydantic import ValidationError

from deployments import process_tree
from seer_core.errors import ConfigError

if TYPE_CHECKING:
    from ray.serve.schema import ServeDeploySchema

ENVIRONMENT = {
    "RAY_USAGE_STATS_ENABLED": "0",
    # Busy or slow machines need longer than Serve's five seconds to start a proxy.
    "RAY_SERVE_PROXY_READY_CHECK_TIMEOUT_S": "60",
    # Ray's own default, 15, lets any busy program starve the replicas.
    "RAY_worker_niceness": "0",
}
OBJECT_STORE_BYTES = 256 * 2**20
STOP_SERVE_S = 3.0
STOP_PROCESSES_S = 2.0


class LocalService:
    """`config` is the content of a Serve configuration file. One at a time in a process."""

    def __init__(self, config: dict[str, Any]) -> None:
        self._config = config
        self._started = False

    @property
    def url(self) -> str:
        options = self._config["http_options"]
        return f"http://{options['host']}:{options['port']}"

    def start(self) -> None:
        """Start Ray and Serve and submit the application. Raises ConfigError before anything is started."""
        _set_environment()
        schema = check(self._config)
        check_port("HTTP", schema.http_options.host, schema.http_options.port)
        check_port("gRPC", "0.0.0.0", schema.grpc_options.port)
        self._started = True
        import ray
        from ray.serve._private import api

        ray.init(
            address="local",
            include_dashboard=False,
            object_store_memory=OBJECT_STORE_BYTES,
            log_to_driver=False,
            logging_level=logging.WARNING,
        )
        client = api.serve_start(
            http_options=schema.http_options.model_dump(),
            grpc_options=schema.grpc_options.model_dump(),
            proxy_location=schema.proxy_location,
        )
        client.deploy_apps(schema)

    def wait_ready(self, timeout_s: float) -> None:
        """Return once a worker is warm. Raises ConfigError if the application cannot be deployed or is not in time."""
        deadline_s = time.monotonic() + timeout_s
        while not self._ready():
            self._raise_if_failed()
            if time.monotonic() > deadline_s:
                raise ConfigError(f"the service was not ready within {timeout_s:.0f} s")
            time.sleep(0.25)

    def stop(self) -> None:
        """End the service and every process it started. Does nothing where nothing was started."""
        if not self._started:
            return
        processes = process_tree.descendants(os.getpid())
        import ray
        from ray.serve.context import _get_global_client

        logging.getLogger("ray.serve").setLevel(logging.ERROR)
        if ray.is_initialized():  # asking for Serve's client would start a Ray of its own
            with suppress(Exception):
                client = _get_global_client()
                if client is not None:
                    client.shutdown(timeout_s=STOP_SERVE_S)
        ray.shutdown()
        process_tree.end(processes, STOP_PROCESSES_S)

    def _ready(self) -> bool:
        with suppress(urllib.error.URLError, OSError), urllib.request.urlopen(f"{self.url}/ready", timeout=5) as reply:
            return bool(reply.status == 200)
        return False

    def _raise_if_failed(self) -> None:
        from ray import serve

        for name, application in serve.status().applications.items():
            told = [application.message, *(part.message for part in application.deployments.values())]
            reason = config_error_in("\n".join(told))
            if reason is not None or application.status in ("DEPLOY_FAILED", "UNHEALTHY"):
                raise ConfigError(f"application {name!r} could not be deployed: {reason or application.message}")


def config_error_in(text: str) -> str | None:
    """The message of the last configuration error that a replica's traceback tells of; no retry would cure it."""
    found = re.findall(r"seer_core\.errors\.(?:Config|Weights|Profile)Error: (.+)", text)
    return found[-1] if found else None


def read_config(path: Path, *, host: str | None, http_port: int | None, grpc_port: int | None) -> dict[str, Any]:
    """The configuration file with the given address in place of its own. Raises ConfigError."""
    try:
        config = yaml.safe_load(path.read_text())
    except (OSError, ValueError, yaml.YAMLError) as error:
        raise ConfigError(f"{path} cannot be read: {error}") from error
    if not isinstance(config, dict):
        raise ConfigError(f"{path} holds no configuration")
    http = {"host": "127.0.0.1", "port": 8000} | _section(config, "http_options")
    grpc = {"port": 9000} | _section(config, "grpc_options")
    http |= {name: value for name, value in (("host", host), ("port", http_port)) if value is not None}
    grpc |= {} if grpc_port is None else {"port": grpc_port}
    return config | {"http_options": http, "grpc_options": grpc}


def check(config: dict[str, Any]) -> ServeDeploySchema:
    """The configuration, validated. Raises ConfigError before minutes are spent on starting what cannot work."""
    from ray.serve.schema import ServeDeploySchema

    from deployments.app import checked

    try:
        with warnings.catch_warnings():
            # Serve means to rename metrics_interval_s one day; until then it has no other name.
            warnings.simplefilter("ignore", DeprecationWarning)
            schema = ServeDeploySchema.model_validate(config)
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(map(str, first["loc"]))
        raise ConfigError(f"{field}: {first['msg']}", field=field) from error
    for application in schema.applications:
        if application.import_path == "deployments.app:build":
            settings = checked(application.args)
            settings.working_parts()
            _check_device(settings.device)
    return schema


def _check_device(device: str) -> None:
    """This machine is the whole cluster: replicas would wait for ever for what it does not have."""
    if device != "cpu":
        from seer_core.families.registry import check_device

        check_device(device)


def check_port(kind: str, host: str, port: int) -> None:
    """Raises ConfigError where nothing can listen there."""
    if not 0 <= port < 2**16:
        raise ConfigError(f"the {kind} port {port} is none; ports end at 65535")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        socket.create_server((host, port), family=family).close()
    except OSError as error:
        raise ConfigError(f"the {kind} port {port} of {host} cannot be used: {error}") from error


def _section(config: dict[str, Any], name: str) -> dict[str, Any]:
    section = config.get(name) or {}
    if not isinstance(section, dict):
        raise ConfigError(f"{name} must be a section, not {section!r}", field=name)
    return section


def _set_environment() -> None:
    for name, value in ENVIRONMENT.items():
        os.environ.setdefault(name, value)
    if "RAY_AUTH_MODE" not in os.environ:
        # Ray's own ports listen on every interface, and whoever reaches them can run code.
        os.environ |= {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": secrets.token_hex(32)}
    root = str(Path(__file__).parent.parent)
    known = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = f"{root}{os.pathsep}{known}" if known else root
