"""How much memory is free, on the machine and on its devices."""

from __future__ import annotations

from pathlib import Path

import torch

MEMINFO = Path("/proc/meminfo")


def free_memory_gib() -> float | None:
    """What processes may still take of the machine's memory; None where the system does not tell."""
    if not MEMINFO.exists():
        return None
    fields = dict(line.split(":", 1) for line in MEMINFO.read_text().splitlines())
    return round(int(fields["MemAvailable"].split()[0]) / 2**20, 1)


def free_by_device_gib() -> dict[str, float]:
    """Free memory of the CPU, where it is known, and of every CUDA device."""
    memory = free_memory_gib()
    found = {} if memory is None else {"cpu": memory}
    for index in range(torch.cuda.device_count()):
        free, _ = torch.cuda.mem_get_info(index)
        found[f"cuda:{index}"] = round(free / 2**30, 1)
    return found
