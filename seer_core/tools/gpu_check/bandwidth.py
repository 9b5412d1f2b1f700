"""How fast the kernels read, against how fast the device copies. Measures; judges nothing."""

from __future__ import annotations

from typing import Any

import torch

from seer_core.kernels.compact import Packed, Slot
from seer_core.kernels.varlen_attention import Segments
from seer_core.tools.gpu_check.kernels import Kernels
from seer_core.tools.gpu_check.sizes import Sizes
from seer_core.tools.gpu_check.timing import median_s

MIB = 2**20


def measure_bandwidth(own: Kernels, device: torch.device, sizes: Sizes) -> dict[str, Any]:
    """GB/s of a copy, and per kernel GB/s of what it must read at least, and the ratio of the two."""
    copied = torch.empty(sizes.stream_mib * MIB, dtype=torch.uint8, device=device)
    into = torch.empty_like(copied)
    rate = 2 * copied.numel() / median_s(lambda: into.copy_(copied), device)
    found: dict[str, Any] = {"ok": True, "copy_gb_per_s": round(rate / 1e9, 1)}
    for name, (seconds, read_bytes) in {
        "confidence": _confidence(own, device, sizes),
        "sparsity": _sparsity(own, device, sizes),
        "varlen_attention": _attention(own, device, sizes),
    }.items():
        found[name] = {
            "ms": round(1000 * seconds, 3),
            "gb_per_s": round(read_bytes / seconds / 1e9, 1),
            "to_copy": round(read_bytes / seconds / rate, 3),
        }
    found["compact"] = {"ms": round(1000 * _compact(own, device, sizes), 4)}  # a launch; its bytes are few
    return found


def _confidence(own: Kernels, device: torch.device, sizes: Sizes) -> tuple[float, int]:
    vocabulary = sizes.decoder.vocab_size
    rows = max(1, sizes.stream_mib * MIB // (vocabulary * sizes.dtype.itemsize))
    logits = torch.randn(rows, vocabulary, dtype=sizes.dtype, device=device)
    return median_s(lambda: own.confidence(logits, 1, "probability"), device), logits.nbytes


def _sparsity(own: Kernels, device: torch.device, sizes: Sizes) -> tuple[float, int]:
    units = sizes.decoder.mlp_size
    positions = max(1, sizes.stream_mib * MIB // (2 * units * sizes.dtype.itemsize))
    gate, up = (torch.randn(positions, units, dtype=sizes.dtype, device=device) for _ in range(2))
    return median_s(lambda: own.sparsity(gate, up, 1e-2), device), gate.nbytes + up.nbytes


def _attention(own: Kernels, device: torch.device, sizes: Sizes) -> tuple[float, int]:
    """The step of the largest batch: keys and values of all rows are read once."""
    rows, canvas, config = sizes.batches[-1], sizes.canvas_tokens, sizes.decoder
    length = sizes.prompt_tokens + canvas
    shape = (1 + rows * length, config.kv_heads, config.head_size)
    keys, values = (torch.randn(shape, dtype=sizes.dtype, device=device) for _ in range(2))
    query = torch.randn(rows * canvas, config.heads, config.head_size, dtype=sizes.dtype, device=device)
    slots = torch.arange(rows + 1, device=device)
    segments = Segments(slots * canvas, 1 + slots[:-1] * length, torch.full_like(slots[:-1], length), canvas, length)
    return median_s(lambda: own.attention(query, keys, values, segments), device), keys.nbytes + values.nbytes


def _compact(own: Kernels, device: torch.device, sizes: Sizes) -> float:
    rows, canvas, prompt = sizes.batches[-1], sizes.canvas_tokens, sizes.prompt_tokens
    canvases = torch.zeros(rows, canvas, dtype=torch.int64, device=device)
    slots = [Slot(n, prompt, prompt + canvas, prompt, canvas, 1, n * canvas, 0) for n in range(rows)]
    table, ends = torch.tensor(slots, device=device), torch.tensor([1], device=device)
    lengths = (rows * canvas, rows * canvas, rows * canvas, rows + 1, rows, rows)
    fields = [torch.zeros(length, dtype=torch.int64, device=device) for length in lengths]
    out = Packed._make([*fields, torch.zeros(rows, 2, dtype=torch.int32, device=device)])
    return median_s(lambda: own.compact(canvases, table, ends, mask_id=2, last=rows * canvas, out=out), device)
