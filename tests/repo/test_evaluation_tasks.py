"""The tasks for other harnesses name functions, columns and files that exist; lmms-eval itself is not installed."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

TASKS = ("seer_scenes.yaml", "seer_scenes_lmms.yaml")
FUNCTION = re.compile(r"!function (\w+)\.(\w+)")


@pytest.fixture
def folder(root: Path) -> Path:
    return root / "examples" / "evaluation"


def read_task(path: Path) -> dict[str, Any]:
    """The task with the names of its functions as text."""
    task: dict[str, Any] = yaml.safe_load(FUNCTION.sub(r"\1.\2", path.read_text()))
    return task


def functions_of(path: Path) -> set[str]:
    return {node.name for node in ast.parse(path.read_text()).body if isinstance(node, ast.FunctionDef)}


@pytest.mark.parametrize("name", TASKS)
def test_every_function_of_a_task_exists_beside_it(name: str, folder: Path) -> None:
    named = FUNCTION.findall((folder / name).read_text())
    missing = [name for module, name in named if name not in functions_of(folder / f"{module}.py")]
    assert named
    assert missing == []


@pytest.mark.parametrize("name", TASKS)
def test_every_column_of_a_task_is_in_the_data(name: str, folder: Path) -> None:
    row = json.loads((folder / "scenes.jsonl").read_text().splitlines()[0])
    columns = set(re.findall(r"{{(\w+)}}", (folder / name).read_text()))
    assert columns == {"question", "answer"}
    assert columns <= row.keys()


def test_the_data_file_of_the_task_of_lmms_eval_lies_beside_it(folder: Path) -> None:
    task = read_task(folder / "seer_scenes_lmms.yaml")
    assert all((folder / file).is_file() for file in task["dataset_kwargs"]["data_files"].values())


def test_both_harnesses_ask_on_the_same_canvas(folder: Path) -> None:
    settings = [read_task(folder / name)["generation_kwargs"] for name in TASKS]
    assert settings[0]["max_gen_toks"] == settings[1]["max_new_tokens"]
