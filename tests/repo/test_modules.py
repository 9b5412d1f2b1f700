"""Every module says what it is, and every folder with modules is a package."""

from __future__ import annotations

import ast
from pathlib import PurePosixPath

GENERATED = ("_pb2.py", "_pb2_grpc.py")


def written(texts: dict[str, str]) -> dict[str, str]:
    return {name: text for name, text in texts.items() if name.endswith(".py") and not name.endswith(GENERATED)}


def test_every_module_has_a_docstring(texts: dict[str, str]) -> None:
    # A test file is named after the module it tests, and its tests are sentences.
    modules = {name: text for name, text in written(texts).items() if not PurePosixPath(name).match("test_*.py")}
    trees = {name: ast.parse(text) for name, text in modules.items()}
    assert [name for name, tree in trees.items() if tree.body and ast.get_docstring(tree) is None] == []


def test_every_folder_of_the_packages_is_a_package(texts: dict[str, str]) -> None:
    modules = [PurePosixPath(name) for name in written(texts) if name.startswith(("seer_core/", "deployments/"))]
    folders = {str(folder) for module in modules for folder in module.parents if folder.name}
    assert sorted(folder for folder in folders if f"{folder}/__init__.py" not in texts) == []
