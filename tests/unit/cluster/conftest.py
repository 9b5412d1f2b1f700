"""The manifests, read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[3]


def read(name: str) -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load((ROOT / name).read_text(encoding="utf-8"))
    return loaded


@pytest.fixture(scope="session")
def serve_config_text() -> str:
    return (ROOT / "serve_config.yaml").read_text(encoding="utf-8")


@pytest.fixture(scope="session")
def serve_config(serve_config_text: str) -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load(serve_config_text)
    return loaded


@pytest.fixture(scope="session")
def rayservice() -> dict[str, Any]:
    return read("cluster/kuberay/rayservice.yaml")


@pytest.fixture(scope="session")
def front() -> dict[str, dict[str, Any]]:
    """The documents of front.yaml by their kind."""
    text = (ROOT / "cluster/kuberay/front.yaml").read_text(encoding="utf-8")
    return {document["kind"]: document for document in yaml.safe_load_all(text)}


@pytest.fixture(scope="session")
def ray_cluster() -> dict[str, Any]:
    return read("cluster/ray_cluster.yaml")


@pytest.fixture(scope="session")
def prometheus() -> dict[str, Any]:
    return read("cluster/prometheus/prometheus.yaml")


@pytest.fixture(scope="session")
def kuberay_env(rayservice: dict[str, Any]) -> dict[str, dict[str, str]]:
    """The environment of each group's Ray container, by group."""
    cluster = rayservice["spec"]["rayClusterConfig"]
    groups = {"head": cluster["headGroupSpec"]} | {group["groupName"]: group for group in cluster["workerGroupSpecs"]}
    return {
        name: {entry["name"]: entry["value"] for entry in group["template"]["spec"]["containers"][0]["env"]}
        for name, group in groups.items()
    }
