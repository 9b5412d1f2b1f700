"""Safetensors into modules, strictly: every tensor of the checkpoint has one place and every place one tensor.

Knows how to read files and compare names and shapes. Which name belongs where is a family's table.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from safetensors import SafetensorError, safe_open

from seer_core.errors import WeightsError

if TYPE_CHECKING:
    import torch
    from torch import nn

NameTable = Sequence[tuple[str, str]]
"""(checkpoint pattern, module name): regular expressions with numbered groups, tried in order, whole names only."""

INDEX = "model.safetensors.index.json"
SINGLE = "model.safetensors"


def tensor_files(folder: Path) -> dict[str, Path]:
    """Tensor name -> the file that holds it.

    Raises `WeightsError` where the folder, a shard or the index is missing or cannot be read.
    """
    index = folder / INDEX
    if index.exists():
        try:
            placed = json.loads(index.read_text())["weight_map"]
        except (ValueError, KeyError) as error:
            raise WeightsError(f"{index} is not a safetensors index: {error}") from error
        return {name: folder / shard for name, shard in placed.items()}
    single = folder / SINGLE
    if not single.exists():
        raise WeightsError(f"{folder} holds neither {SINGLE} nor {INDEX}")
    with _opened(single) as file:
        return dict.fromkeys(file.keys(), single)


def load_into(module: nn.Module, folder: Path, table: NameTable, *, prefix: str = "") -> None:
    """Fill every parameter and buffer of `module` from the safetensors in `folder`.

    `prefix` is the module's place in the whole model (`decoder.`); tensors that belong elsewhere are then left alone.
    Raises `WeightsError` that names missing, extra and misshapen tensors, or the file that cannot be read.
    """
    sources = tensor_files(folder)
    placed = {name: _translate(name, table) for name in sources}
    wanted = {prefix + name: tensor for name, tensor in module.state_dict().items()}
    extra = [n for n, place in placed.items() if place is None or (place.startswith(prefix) and place not in wanted)]
    missing = wanted.keys() - set(placed.values())
    _refuse(folder, missing=sorted(missing), extra=sorted(extra))
    for path in dict.fromkeys(sources.values()):
        names = {place: n for n, place in placed.items() if sources[n] == path and place and place in wanted}
        if names:
            _copy(path, names, wanted)


def fingerprint(folder: Path) -> str:
    """SHA-256 over names, sizes and file bytes of the checkpoint's safetensors; the first 16 hex digits."""
    digest = hashlib.sha256()
    for path in sorted(set(tensor_files(folder).values())):
        digest.update(f"{path.name}:{path.stat().st_size}:".encode())
        with path.open("rb") as file:
            while chunk := file.read(1 << 22):
                digest.update(chunk)
    return digest.hexdigest()[:16]


def _copy(path: Path, names: dict[str, str], wanted: dict[str, torch.Tensor]) -> None:
    with _opened(path, tensors=True) as file:
        held = set(file.keys())
        for place, name in names.items():
            if name not in held:
                raise WeightsError(f"{path} does not hold {name}, although the index says so")
            tensor = file.get_tensor(name)
            if tensor.shape != wanted[place].shape:
                have, want = list(tensor.shape), list(wanted[place].shape)
                raise WeightsError(f"{name} in {path} has shape {have}; the model needs {want}")
            wanted[place].copy_(tensor)


def _opened(path: Path, *, tensors: bool = False) -> safe_open:
    try:
        return safe_open(path, framework="pt" if tensors else "np")
    except FileNotFoundError as error:
        raise WeightsError(f"{path} is missing") from error
    except (SafetensorError, OSError) as error:
        raise WeightsError(f"{path} cannot be read as safetensors: {error}") from error


def _translate(name: str, table: NameTable) -> str | None:
    for pattern, target in table:
        match = re.fullmatch(pattern, name)
        if match:
            return match.expand(target)
    return None


def _refuse(folder: Path, *, missing: Sequence[str], extra: Sequence[str]) -> None:
    if missing or extra:
        parts = [f"{kind}: {_some(names)}" for kind, names in (("missing", missing), ("unknown", extra)) if names]
        raise WeightsError(f"the tensors in {folder} do not fit this model; {'; '.join(parts)}")


def _some(names: Iterable[str], limit: int = 8) -> str:
    names = list(names)
    more = f" and {len(names) - limit} more" if len(names) > limit else ""
    return ", ".join(names[:limit]) + more
