"""What a process loads when it starts: import contracts see every import, this sees those that really run."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

HEAVY = ["torch", "transformers", "triton"]
SERVERS = ["ray", "pydantic", "fastapi", "starlette", "uvicorn", "grpc"]


def loaded(root: Path, *modules: str, absent: tuple[str, ...] = ()) -> set[str]:
    """The top-level packages a fresh interpreter holds after importing `modules`, where `absent` ones do not exist."""
    program = (
        "import importlib, json, sys\n"
        f"sys.modules.update(dict.fromkeys({absent!r}))\n"
        f"[importlib.import_module(name) for name in {modules!r}]\n"
        "print(json.dumps(sorted({name.partition('.')[0] for name, module in sys.modules.items() if module})))"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=root, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return set(json.loads(done.stdout.splitlines()[-1]))


@pytest.mark.parametrize("deployment", ["deployments.ingress", "deployments.router"])
def test_ingress_and_router_start_without_torch(root: Path, deployment: str) -> None:
    assert loaded(root, deployment).isdisjoint(HEAVY)


def test_the_core_runs_where_no_server_is_installed(root: Path) -> None:
    found = loaded(root, "seer_core.pipeline", "seer_core.cli", absent=tuple(SERVERS))
    assert found.isdisjoint(SERVERS)


def test_router_preprocessing_and_planner_run_where_no_torch_is_installed(root: Path) -> None:
    pure = ("seer_core.router.router", "seer_core.preprocess.processor", "seer_core.engine.planner")
    found = loaded(root, *pure, absent=tuple(HEAVY))
    assert found.isdisjoint(HEAVY)
