"""What is installed: lower bounds in pyproject.toml, one tested set in constraints.txt, and they agree."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

SERVING = {"ray", "fastapi", "pydantic", "uvicorn", "starlette", "grpcio"}


@pytest.fixture(scope="module")
def project(root: Path) -> dict[str, Any]:
    loaded: dict[str, Any] = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return loaded


@pytest.fixture(scope="module")
def pins(texts: dict[str, str]) -> dict[str, Version]:
    lines = [line for line in texts["constraints.txt"].splitlines() if line and not line.startswith("#")]
    return {canonicalize_name(name): Version(version) for name, _, version in (line.partition("==") for line in lines)}


def requirements(project: dict[str, Any]) -> list[Requirement]:
    extras = [line for lines in project["optional-dependencies"].values() for line in lines]
    return [Requirement(line) for line in project["dependencies"] + extras]


def test_every_dependency_is_pinned_at_or_above_its_lower_bound(
    project: dict[str, Any], pins: dict[str, Version]
) -> None:
    wrong = [
        str(need)
        for need in requirements(project)
        if (pin := pins.get(canonicalize_name(need.name))) is None or pin not in need.specifier
    ]
    assert wrong == []


def test_the_core_needs_no_server(project: dict[str, Any]) -> None:
    assert {Requirement(line).name for line in project["dependencies"]} & SERVING == set()


def test_no_pin_asks_for_one_build_of_a_release(pins: dict[str, Version]) -> None:
    assert [name for name, version in pins.items() if version.local] == []


def test_constraints_are_pins_and_nothing_else(texts: dict[str, str]) -> None:
    lines = [line for line in texts["constraints.txt"].splitlines() if not line.startswith("#")]
    assert [line for line in lines if not re.fullmatch(r"[\w.-]+==[\w.]+", line)] == []


def test_the_changelog_knows_the_version(project: dict[str, Any], texts: dict[str, str]) -> None:
    assert f"## [{project['version']}]" in texts["CHANGELOG.md"]


def test_the_image_carries_the_version(project: dict[str, Any], texts: dict[str, str]) -> None:
    tags = {
        tag
        for name in ("cluster/README.md", "cluster/ray_cluster.yaml", "cluster/kuberay/rayservice.yaml")
        for tag in re.findall(r"\bseer:(\d[\w.]*\w)", texts[name])
    }
    assert tags == {project["version"]}
