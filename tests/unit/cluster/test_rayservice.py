"""The RayService is valid, and serves exactly what serve_config.yaml says."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

SCHEMA = Path(__file__).parents[3] / "cluster/kuberay/rayservice.schema.json"
# Serve's own default where a deployment does not set it, and what its HAProxy mode raises an ingress to.
DEFAULT_SHUTDOWN_S = 35.0


@pytest.fixture(scope="module")
def validator() -> jsonschema.Draft202012Validator:
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def groups(rayservice: dict[str, Any]) -> Iterator[dict[str, Any]]:
    cluster = rayservice["spec"]["rayClusterConfig"]
    yield cluster["headGroupSpec"]
    yield from cluster["workerGroupSpecs"]


def test_the_manifest_fits_the_custom_resource(
    validator: jsonschema.Draft202012Validator, rayservice: dict[str, Any]
) -> None:
    assert [error.message for error in validator.iter_errors(rayservice)] == []


@pytest.mark.parametrize(
    ("path", "key", "value"),
    [
        (["spec"], "serveConfig", "applications: []"),
        (["spec", "rayClusterConfig", "headGroupSpec"], "replicas", 1),
        (["spec", "rayClusterConfig", "headGroupSpec", "rayStartParams"], "num-cpus", 0),
        (["spec"], "serveService", {"spec": {"ports": [{"name": "serve", "port": "http"}]}}),
        (["spec", "rayClusterConfig", "workerGroupSpecs", 0, "template", "spec"], "container", []),
        (["spec", "rayClusterConfig", "workerGroupSpecs", 0, "template", "spec", "volumes", 0], "secret", {}),
    ],
    ids=[
        "unknown field",
        "field of another group",
        "number for a string",
        "name for a port",
        "misspelt containers",
        "a volume of two kinds",
    ],
)
def test_the_schema_refuses_a_mistake(
    validator: jsonschema.Draft202012Validator,
    rayservice: dict[str, Any],
    path: list[str | int],
    key: str,
    value: object,
) -> None:
    wrong: Any = copy.deepcopy(rayservice)
    place = wrong
    for step in path:
        place = place[step]
    place[key] = value
    assert not validator.is_valid(wrong)


def test_the_serve_config_is_embedded_word_for_word(rayservice: dict[str, Any], serve_config_text: str) -> None:
    assert rayservice["spec"]["serveConfigV2"] == serve_config_text, "run `make manifests`"


def test_the_embedded_config_means_the_same(rayservice: dict[str, Any], serve_config: dict[str, Any]) -> None:
    assert yaml.safe_load(rayservice["spec"]["serveConfigV2"]) == serve_config


def test_the_service_and_the_probe_of_kuberay_lead_to_the_front(rayservice: dict[str, Any]) -> None:
    for group in groups(rayservice):
        ports = {port["name"]: port["containerPort"] for port in group["template"]["spec"]["containers"][0]["ports"]}
        assert ports["serve"] == 8080


def test_no_port_is_asked_of_a_service_that_has_one_only(rayservice: dict[str, Any]) -> None:
    assert "serveService" not in rayservice["spec"]


def test_a_proxy_on_every_node_listens_for_the_front_alone(serve_config: dict[str, Any]) -> None:
    assert serve_config["http_options"]["host"] == "127.0.0.1"
    assert serve_config["proxy_location"] == "EveryNode"


def test_the_head_runs_no_replicas(rayservice: dict[str, Any]) -> None:
    assert rayservice["spec"]["rayClusterConfig"]["headGroupSpec"]["rayStartParams"]["num-cpus"] == "0"
    assert rayservice["spec"]["excludeHeadPodFromServeSvc"] is True


def test_pods_outlive_the_longest_drain(rayservice: dict[str, Any], serve_config: dict[str, Any]) -> None:
    drains_s = [
        float(deployment.get("graceful_shutdown_timeout_s", DEFAULT_SHUTDOWN_S))
        for application in serve_config["applications"]
        for deployment in application.get("deployments", [])
    ]
    for group in groups(rayservice):
        assert group["template"]["spec"]["terminationGracePeriodSeconds"] > max([*drains_s, DEFAULT_SHUTDOWN_S])


def test_every_node_has_the_same_serve_switches(kuberay_env: dict[str, dict[str, str]]) -> None:
    assert kuberay_env["head"]["RAY_SERVE_ENABLE_HA_PROXY"] == "1"
    assert all(env == kuberay_env["head"] for env in kuberay_env.values())


def test_the_manifest_asks_for_the_tested_ray(rayservice: dict[str, Any]) -> None:
    pins = (Path(__file__).parents[3] / "constraints.txt").read_text(encoding="utf-8").splitlines()
    assert f"ray=={rayservice['spec']['rayClusterConfig']['rayVersion']}" in pins
