"""One safetensors file: what it says it holds, and its bytes read straight into the memory they are meant for.

The file is read, not mapped: mapped pages count as the process's own until they are given back, and a file that shrinks
under a map kills the process. Imports torch only where tensors are made.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, BinaryIO

from seer_core.errors import WeightsError

if TYPE_CHECKING:
    import torch

ITEM_BYTES = MappingProxyType(
    {"F64": 8, "F32": 4, "F16": 2, "BF16": 2, "I64": 8, "I32": 4, "I16": 2, "I8": 1, "U8": 1, "BOOL": 1}
)
_TORCH = MappingProxyType(
    {
        "F64": "float64",
        "F32": "float32",
        "F16": "float16",
        "BF16": "bfloat16",
        "I64": "int64",
        "I32": "int32",
        "I16": "int16",
        "I8": "int8",
        "U8": "uint8",
        "BOOL": "bool",
    }
)
MAX_HEADER_BYTES = 100_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Stored:
    """A tensor as a header tells of it: where its bytes start in the file, and how many there are."""

    dtype: str
    shape: tuple[int, ...]
    start: int
    size_bytes: int

    @property
    def elements(self) -> int:
        return math.prod(self.shape)


def read_header(path: Path) -> dict[str, Stored]:
    """Name -> tensor of a file; raises `WeightsError` that names the file where it is missing, cut off or no such file.

    Every claim is checked against the file's size, so that reading the tensors later finds all their bytes.
    """
    try:
        size = path.stat().st_size
        with path.open("rb") as file:
            length = int.from_bytes(file.read(8), "little")
            if size < 8 or length > min(size - 8, MAX_HEADER_BYTES):
                raise WeightsError(f"{path} cannot be read as safetensors: its header is cut off or longer than it")
            header = json.loads(file.read(length))
            held = {name: _stored(entry, 8 + length) for name, entry in header.items() if name != "__metadata__"}
    except FileNotFoundError as error:
        raise WeightsError(f"{path} is missing") from error
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise WeightsError(f"{path} cannot be read as safetensors: {error}") from error
    wanted = max((tensor.start + tensor.size_bytes for tensor in held.values()), default=8 + length)
    if size < wanted:
        raise WeightsError(f"{path} cannot be read as safetensors: it has {size} bytes and should have {wanted}")
    return held


def read_tensor(file: BinaryIO, tensor: Stored, rows: int | None = None) -> torch.Tensor:
    """The tensor, or its first `rows` rows, on the CPU in its stored dtype."""
    import torch

    shape = tensor.shape if rows is None else (rows, *tensor.shape[1:])
    out = torch.empty(shape, dtype=getattr(torch, _TORCH[tensor.dtype]))
    if out.numel():
        file.seek(tensor.start)
        view = memoryview(out.reshape(-1).view(torch.uint8).numpy())  # type: ignore[arg-type]
        done = 0
        while done < len(view):
            got = file.readinto(view[done:])  # type: ignore[attr-defined]
            if not got:
                raise WeightsError(f"{file.name} ends early: it was changed while it was read")
            done += got
    return out


def _stored(entry: dict[str, Any], base: int) -> Stored:
    first, last = entry["data_offsets"]
    dtype, shape = entry["dtype"], tuple(int(side) for side in entry["shape"])
    if dtype not in ITEM_BYTES:
        raise ValueError(f"the dtype {dtype} is not supported")
    if min((first, *shape), default=0) < 0 or math.prod(shape) * ITEM_BYTES[dtype] != last - first:
        raise ValueError(f"a tensor of shape {list(shape)} cannot fill bytes {first} to {last}")
    return Stored(dtype=dtype, shape=shape, start=base + first, size_bytes=last - first)
