"""Safetensors into modules, strictly: every tensor of the checkpoint has one place and every place one tensor.

Knows how to read files and compare names and shapes. Which name belongs where is a family's table.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from tqdm import tqdm

from seer_core.errors import WeightsError
from seer_core.models.tensor_file import Stored, read_header, read_tensor

if TYPE_CHECKING:
    import torch
    from torch import nn

NameTable = Sequence[tuple[str, str]]
"""(checkpoint pattern, module name): regular expressions with numbered groups, tried in order, whole names only."""

INDEX = "model.safetensors.index.json"
SINGLE = "model.safetensors"
PICKLES = ("*.bin", "*.pt", "*.pth", "*.ckpt", "pytorch_model*")


def tensor_files(folder: Path) -> dict[str, Path]:
    """Tensor name -> the file that holds it.

    Raises `WeightsError` where the weights or the index are missing, cannot be read or are pickled.
    """
    index = folder / INDEX
    if index.exists():
        return _placed(index)
    single = folder / SINGLE
    if single.exists():
        return dict.fromkeys(read_header(single), single)
    pickled = sorted({path.name for pattern in PICKLES for path in folder.glob(pattern)})
    if pickled:
        text = f"{folder} holds pickled weights ({_some(pickled, 3)}), which can run code; convert them to safetensors"
        raise WeightsError(text)
    raise WeightsError(f"{folder} holds neither {SINGLE} nor {INDEX}")


def stored_tensors(folder: Path) -> dict[str, Stored]:
    """Tensor name -> what its file says of it; raises `WeightsError` as `tensor_files`, or for a missing shard."""
    sources = tensor_files(folder)
    headers = {path: read_header(path) for path in dict.fromkeys(sources.values())}
    for name, path in sources.items():
        if name not in headers[path]:
            raise WeightsError(f"{path} does not hold {name}, although the index says so")
    return {name: headers[path][name] for name, path in sources.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class Transfer:
    """One tensor on its way from a file to its place in a module: the first `rows` of it, where that is not None."""

    name: str
    place: str
    path: Path
    stored: Stored
    rows: int | None

    @property
    def elements(self) -> int:
        """The numbers that arrive."""
        return self.stored.elements if self.rows is None else self.stored.elements // self.stored.shape[0] * self.rows


def transfers(
    module: nn.Module,
    folder: Path,
    table: NameTable,
    *,
    prefix: str = "",
    spare_rows: Mapping[str, int] = MappingProxyType({}),
) -> list[Transfer]:
    """What `load_into` would read, in the order of the files; raises as it does, and reads headers alone."""
    sources, stored = tensor_files(folder), stored_tensors(folder)
    placed = {name: _translate(name, table) for name in sources}
    wanted = {prefix + name: tensor for name, tensor in module.state_dict().items()}
    extra = [n for n, place in placed.items() if place is None or (place.startswith(prefix) and place not in wanted)]
    missing = wanted.keys() - set(placed.values())
    _refuse(folder, missing=sorted(missing), extra=sorted(extra))
    found = []
    for name, place in placed.items():
        if place in wanted:
            spare = spare_rows.get(place, 0)
            _check_shape(name, sources[name], stored[name], wanted[place], spare)
            rows = len(wanted[place]) if spare else None
            inner = place.removeprefix(prefix)
            found.append(Transfer(name=name, place=inner, path=sources[name], stored=stored[name], rows=rows))
    return sorted(found, key=lambda transfer: (transfer.path, transfer.stored.start))


def load_into(
    module: nn.Module,
    folder: Path,
    table: NameTable,
    *,
    prefix: str = "",
    spare_rows: Mapping[str, int] = MappingProxyType({}),
    device: str = "cpu",
    dtype: torch.dtype | None = None,
    quiet: bool = False,
) -> None:
    """Fill every parameter and buffer of `module` from the safetensors in `folder`, tensor by tensor.

    Floating-point parameters end on `device` in `dtype` (None keeps the module's); no more than one tensor exists
    twice. `prefix` is the module's place in the whole model (`decoder.`); tensors that belong elsewhere are left alone.
    Of the places in `spare_rows` the checkpoint stores that many rows more, which are not read. A progress bar shows on
    a terminal unless `quiet`.

    Raises `WeightsError` that names missing, extra and misshapen tensors, or the file that cannot be read, before the
    first tensor is read.
    """
    moves = transfers(module, folder, table, prefix=prefix, spare_rows=spare_rows)
    total = sum(move.stored.size_bytes for move in moves)
    with tqdm(total=total, unit="B", unit_scale=True, desc="loading", disable=quiet or None) as bar:
        for path, group in groupby(moves, key=lambda move: move.path):
            with path.open("rb", buffering=0) as file:
                for move in group:
                    _put(module, move.place, read_tensor(file, move.stored, move.rows), device, dtype)
                    bar.update(move.stored.size_bytes)


def fingerprint(folder: Path) -> str:
    """SHA-256 over names, sizes and file bytes of the checkpoint's safetensors; the first 16 hex digits.

    Raises `WeightsError` as `tensor_files`, or for a missing file.
    """
    digest = hashlib.sha256()
    for path in sorted(set(tensor_files(folder).values())):
        if not path.exists():
            raise WeightsError(f"{path} is missing")
        digest.update(f"{path.name}:{path.stat().st_size}:".encode())
        with path.open("rb") as file:
            while chunk := file.read(1 << 22):
                digest.update(chunk)
    return digest.hexdigest()[:16]


def _placed(index: Path) -> dict[str, Path]:
    try:
        placed = {str(name): str(shard) for name, shard in json.loads(index.read_text())["weight_map"].items()}
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise WeightsError(f"{index} is not a safetensors index: {error}") from error
    strange = [shard for shard in placed.values() if Path(shard).name != shard or not shard.endswith(".safetensors")]
    if strange:
        raise WeightsError(f"{index} names {strange[0]!r}, which is no safetensors file beside it")
    return {name: index.parent / shard for name, shard in placed.items()}


def _check_shape(name: str, path: Path, stored: Stored, wanted: torch.Tensor, spare: int) -> None:
    want = (wanted.shape[0] + spare, *wanted.shape[1:]) if spare else tuple(wanted.shape)
    if stored.shape != want:
        raise WeightsError(f"{name} in {path} has shape {list(stored.shape)}; the model needs {list(want)}")


def _put(module: nn.Module, place: str, value: torch.Tensor, device: str, dtype: torch.dtype | None) -> None:
    """Hand `value` over to the parameter or buffer at `place`."""
    from torch import nn

    path, _, name = place.rpartition(".")
    owner = module.get_submodule(path)
    old = owner.state_dict(keep_vars=True)[name]
    if not isinstance(old, nn.Parameter):
        old.copy_(value)
        return
    kind = dtype if dtype is not None and old.is_floating_point() else old.dtype
    setattr(owner, name, nn.Parameter(value.to(device, kind), requires_grad=old.requires_grad))


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
