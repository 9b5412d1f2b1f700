"""The front leads from the pod's address to the ports Serve listens on, and lets through what Seer takes."""

from __future__ import annotations

import copy
import json
import re
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from deployments.app import IN_FLIGHT
from deployments.http_api import MAX_BODY_BYTES
from tests.unit.cluster.nginx_config import Directive, parse

SCHEMA = Path(__file__).parents[3] / "cluster/kuberay/front.schema.json"


@pytest.fixture(scope="module")
def validator() -> jsonschema.Draft202012Validator:
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


@pytest.fixture(scope="module")
def text(front: dict[str, dict[str, Any]]) -> str:
    found: str = front["ConfigMap"]["data"]["nginx.conf"]
    return found


@pytest.fixture(scope="module")
def servers(text: str) -> dict[str, Directive]:
    """The servers by the port they listen on."""
    (http,) = parse(text).all("http")
    return {server.one("listen"): server for server in http.all("server")}


@pytest.fixture(scope="module")
def http(servers: dict[str, Directive]) -> Directive:
    return servers["8080"]


@pytest.fixture(scope="module")
def grpc(servers: dict[str, Directive]) -> Directive:
    return servers["9090"]


@pytest.fixture(scope="module")
def worker(rayservice: dict[str, Any]) -> dict[str, Any]:
    (group,) = rayservice["spec"]["rayClusterConfig"]["workerGroupSpecs"]
    template: dict[str, Any] = group["template"]
    return template


def location(server: Directive) -> Directive:
    (found,) = server.all("location")
    return found


def ports(container: dict[str, Any]) -> dict[str, int]:
    return {port["name"]: port["containerPort"] for port in container["ports"]}


def test_every_document_fits_its_schema(
    validator: jsonschema.Draft202012Validator, front: dict[str, dict[str, Any]]
) -> None:
    assert front.keys() == {"ConfigMap", "Service"}
    assert [error.message for document in front.values() for error in validator.iter_errors(document)] == []


@pytest.mark.parametrize(
    ("kind", "path", "key", "value"),
    [
        ("ConfigMap", ["data"], "nginx.config", ""),
        ("ConfigMap", [], "kind", "Configmap"),
        ("Service", ["spec"], "selector", {}),
        ("Service", ["spec", "ports", 0], "port", "grpc"),
    ],
    ids=["misspelt file", "misspelt kind", "a service of every pod", "name for a port"],
)
def test_the_schema_refuses_a_mistake(
    validator: jsonschema.Draft202012Validator,
    front: dict[str, dict[str, Any]],
    kind: str,
    path: list[str | int],
    key: str,
    value: object,
) -> None:
    wrong: Any = copy.deepcopy(front[kind])
    place = wrong
    for step in path:
        place = place[step]
    place[key] = value
    assert not validator.is_valid(wrong)


def test_the_upstreams_are_the_ports_serve_listens_on(
    http: Directive, grpc: Directive, serve_config: dict[str, Any]
) -> None:
    host = serve_config["http_options"]["host"]
    assert location(http).one("proxy_pass") == f"http://{host}:{serve_config['http_options']['port']}"
    assert location(grpc).one("grpc_pass") == f"grpc://{host}:{serve_config['grpc_options']['port']}"


def test_the_front_listens_on_the_ports_the_pod_declares(servers: dict[str, Directive], worker: dict[str, Any]) -> None:
    ray, front = worker["spec"]["containers"]
    assert servers.keys() == {str(ports(ray)["serve"]), str(ports(front)["grpc"])}


def test_no_two_processes_of_a_pod_want_one_port(worker: dict[str, Any], serve_config: dict[str, Any]) -> None:
    declared = [port for container in worker["spec"]["containers"] for port in ports(container).values()]
    taken = [*declared, serve_config["http_options"]["port"], serve_config["grpc_options"]["port"]]
    assert sorted(set(taken)) == sorted(taken)


def test_events_leave_as_they_are_written(http: Directive) -> None:
    assert location(http).one("proxy_buffering") == "off"
    assert location(http).one("proxy_http_version") == "1.1"


def test_bodies_pass_up_to_the_limit_of_the_api(http: Directive) -> None:
    assert http.one("client_max_body_size") == f"{MAX_BODY_BYTES // 2**20}m"


def test_the_front_leaves_deadlines_to_seer(http: Directive, grpc: Directive) -> None:
    assert location(http).one("proxy_read_timeout") == "1h"
    assert location(grpc).one("grpc_read_timeout") == "1h"


def test_grpc_calls_pass_whole(grpc: Directive) -> None:
    assert grpc.one("http2") == "on"
    assert grpc.one("underscores_in_headers") == "on"
    assert grpc.one("client_max_body_size") == "0"
    assert grpc.one("http2_max_concurrent_streams") == str(IN_FLIGHT)


def test_the_tls_block_is_whole_once_the_comment_signs_are_off(text: str) -> None:
    tls = re.sub(r"# (listen|ssl_)", r"\1", text.replace("listen 9090;", "", 1))
    (http,) = parse(tls).all("http")
    (grpc,) = [server for server in http.all("server") if server.one("listen") == "9090 ssl"]
    assert grpc.one("ssl_certificate") == "/etc/front-tls/tls.crt"
    assert grpc.one("ssl_certificate_key") == "/etc/front-tls/tls.key"


def test_the_container_reads_the_configuration_from_the_config_map(
    front: dict[str, dict[str, Any]], worker: dict[str, Any]
) -> None:
    container = worker["spec"]["containers"][1]
    volumes = {volume["name"]: volume for volume in worker["spec"]["volumes"]}
    mounts = {mount["mountPath"]: volumes[mount["name"]] for mount in container["volumeMounts"]}
    assert mounts["/etc/front"]["configMap"]["name"] == front["ConfigMap"]["metadata"]["name"]
    assert container["command"][-2:] == ["-c", "/etc/front/nginx.conf"]


def test_the_front_writes_only_where_it_may(text: str, worker: dict[str, Any]) -> None:
    (http,) = parse(text).all("http")
    written = [parse(text).one("pid"), *(d.words[0] for d in http.inside or () if d.name.endswith("_temp_path"))]
    assert len(written) == 6
    assert all(path.startswith("/tmp/") for path in written)
    mounts = worker["spec"]["containers"][1]["volumeMounts"]
    assert "/tmp" in {mount["mountPath"] for mount in mounts}


def test_the_front_runs_without_root(worker: dict[str, Any]) -> None:
    container = worker["spec"]["containers"][1]
    assert container["name"] == "front"
    assert container["image"].startswith("nginxinc/nginx-unprivileged:1.")
    assert worker["spec"]["securityContext"]["runAsNonRoot"] is True
    assert container["securityContext"]["allowPrivilegeEscalation"] is False


def test_the_service_for_grpc_leads_to_the_fronts_of_worker_pods(
    front: dict[str, dict[str, Any]], grpc: Directive, worker: dict[str, Any], rayservice: dict[str, Any]
) -> None:
    selector = front["Service"]["spec"]["selector"]
    head = rayservice["spec"]["rayClusterConfig"]["headGroupSpec"]["template"]
    (port,) = front["Service"]["spec"]["ports"]
    assert selector.items() <= worker["metadata"]["labels"].items()
    assert "metadata" not in head
    assert (port["port"], str(port["targetPort"])) == (9090, grpc.one("listen"))


@pytest.mark.parametrize(
    ("wrong", "message"),
    [("http {", "not closed"), ("http { } }", "too many"), ("http { listen 8080 }", "no `;` after listen 8080")],
)
def test_a_broken_configuration_is_noticed(wrong: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        parse(wrong)
