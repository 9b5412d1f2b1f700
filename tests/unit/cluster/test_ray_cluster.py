"""The launcher file is one that Ray's launcher accepts."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest


@pytest.fixture(scope="module")
def schema() -> dict[str, Any]:
    spec = importlib.util.find_spec("ray")
    assert spec is not None
    assert spec.origin is not None
    path = Path(spec.origin).parent / "autoscaler/ray-schema.json"
    loaded: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return loaded


def test_the_file_fits_rays_own_schema(schema: dict[str, Any], ray_cluster: dict[str, Any]) -> None:
    # The launcher moves `min_workers` into the node type of on-premise clusters before it validates.
    prepared = {key: value for key, value in ray_cluster.items() if key != "min_workers"}
    jsonschema.validate(prepared, schema)


def test_the_schema_refuses_an_unknown_field(schema: dict[str, Any], ray_cluster: dict[str, Any]) -> None:
    with pytest.raises(jsonschema.ValidationError, match="head_commands"):
        jsonschema.validate({**ray_cluster, "head_commands": []}, schema)


def test_no_more_workers_are_asked_for_than_there_are_machines(ray_cluster: dict[str, Any]) -> None:
    assert ray_cluster["min_workers"] <= ray_cluster["max_workers"] <= len(ray_cluster["provider"]["worker_ips"])


def test_the_head_runs_no_replicas_and_deploys_the_service(ray_cluster: dict[str, Any]) -> None:
    start, deploy = ray_cluster["head_start_ray_commands"][-2:]
    assert "ray start --head" in start
    assert "--num-cpus=0" in start
    assert deploy == "serve deploy /srv/seer/serve_config.yaml"


def test_workers_join_the_head_on_its_port(ray_cluster: dict[str, Any]) -> None:
    assert "--port=6379" in ray_cluster["head_start_ray_commands"][-2]
    assert "--address=$RAY_HEAD_IP:6379" in ray_cluster["worker_start_ray_commands"][-1]


def test_the_launcher_and_kubernetes_set_the_same_switches(
    ray_cluster: dict[str, Any], kuberay_env: dict[str, dict[str, str]]
) -> None:
    prefix = "--env="
    options = [option for option in ray_cluster["docker"]["run_options"] if option.startswith(prefix)]
    assert dict(option.removeprefix(prefix).split("=", 1) for option in options) == kuberay_env["head"]
