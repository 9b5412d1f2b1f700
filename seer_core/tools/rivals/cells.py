"""Results on disk, one file a cell, so that a long table can be made in pieces and a kill loses one of them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from seer_core.errors import ConfigError

Cell = dict[str, Any]
IDENTITY = "identity.json"


class Cells:
    """Finished cells by name; without a folder they last as long as this object."""

    def __init__(self, folder: Path | None, identity: Mapping[str, Any]) -> None:
        """`identity` says what the cells are of. Raises `ConfigError` for a folder that holds cells of another one."""
        self._folder = folder
        self._memory: dict[str, Cell] = {}
        if folder is not None:
            folder.mkdir(parents=True, exist_ok=True)
            _check_identity(folder / IDENTITY, json.loads(json.dumps(identity)))

    def get(self, name: str) -> Cell | None:
        """The cell, if it is finished."""
        if name not in self._memory and self._folder is not None:
            path = self._folder / f"{name}.json"
            if path.exists():
                self._memory[name] = _read(path)
        return self._memory.get(name)

    def put(self, name: str, cell: Cell) -> Cell:
        """Keep a finished cell; a reader never sees half of it."""
        self._memory[name] = cell
        if self._folder is not None:
            _write(self._folder / f"{name}.json", cell)
        return cell


def _check_identity(path: Path, identity: Cell) -> None:
    if not path.exists():
        _write(path, identity)
        return
    held = _read(path)
    differing = [name for name in {**held, **identity} if held.get(name) != identity.get(name)]
    if differing:
        name = differing[0]
        raise ConfigError(
            f"{path.parent} holds cells of another run: {name} is {held.get(name)!r} there,"
            f" {identity.get(name)!r} here; take another folder",
            field="cells",
        )


def _read(path: Path) -> Cell:
    try:
        cell: Cell = json.loads(path.read_text())
    except (OSError, ValueError) as error:
        raise ConfigError(f"the cell {path} cannot be read: {error}; delete it to have it made again") from error
    return cell


def _write(path: Path, cell: Cell) -> None:
    half = path.with_suffix(".part")
    half.write_text(json.dumps(cell))
    half.replace(path)
