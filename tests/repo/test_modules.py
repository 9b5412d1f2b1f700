"""Every module says what it is."""

from __future__ import annotations

import ast

GENERATED = ("_pb2.py", "_pb2_grpc.py")


def modules(texts: dict[str, str]) -> dict[str, ast.Module]:
    return {
        name: ast.parse(text) for name, text in texts.items() if name.endswith(".py") and not name.endswith(GENERATED)
    }


def test_every_module_has_a_docstring(texts: dict[str, str]) -> None:
    silent = [name for name, tree in modules(texts).items() if tree.body and ast.get_docstring(tree) is None]
    assert silent == []


def test_every_folder_of_the_packages_is_a_package(texts: dict[str, str]) -> None:
    folders = {name.rpartition("/")[0] for name in texts if name.startswith(("seer_core/", "deployments/"))}
    with_code = {folder for folder in folders if any(name.startswith(f"{folder}/") for name in modules(texts))}
    assert sorted(folder for folder in with_code if f"{folder}/__init__.py" not in texts) == []
