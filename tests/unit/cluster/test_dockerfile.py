"""The image installs the tested set, holds what the launchers start, and runs without root."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def dockerfile() -> str:
    return (ROOT / "cluster/Dockerfile").read_text(encoding="utf-8").replace("\\\n", " ")


def test_every_install_is_held_to_the_tested_versions(dockerfile: str) -> None:
    installs = re.findall(r"^RUN pip install .*$", dockerfile, re.MULTILINE)
    assert len(installs) == 2
    assert all("--constraint constraints.txt" in line for line in installs)


def test_every_copied_file_exists(dockerfile: str) -> None:
    sources = [name for line in re.findall(r"^COPY (.*) \S+$", dockerfile, re.MULTILINE) for name in line.split()]
    assert "serve_config.yaml" in sources
    assert [name for name in sources if not (ROOT / name).exists()] == []


def test_the_image_runs_as_the_user_the_manifests_name(dockerfile: str) -> None:
    assert "--uid 1000 seer" in dockerfile
    assert dockerfile.index("USER seer") < dockerfile.index("CMD")


def test_the_launcher_finds_the_config_where_the_image_puts_it(dockerfile: str) -> None:
    assert "WORKDIR /srv/seer\n" in dockerfile
