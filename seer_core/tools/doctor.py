"""What this machine can run: one report, no side effects, no network."""

from __future__ import annotations

import os
import platform
from importlib import metadata

import torch

from seer_core.embedded import CHECKPOINT
from seer_core.errors import SeerError
from seer_core.families.registry import inspect
from seer_core.tools.memory import free_memory_gib

PACKAGES = ("torch", "transformers", "tokenizers", "safetensors", "triton", "ray", "grpcio", "pydantic", "matplotlib")

Report = dict[str, object]


def examine() -> Report:
    """Versions, processors, memory, devices, and what can be served here."""
    gpus = [torch.cuda.get_device_name(index) for index in range(torch.cuda.device_count())]
    versions = {name: _version(name) for name in PACKAGES}
    return {
        "python": platform.python_version(),
        "packages": versions,
        "cpu_cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "memory_gib": free_memory_gib(),
        "gpus": gpus,
        "embedded_model": _embedded(),
        "can": {
            "generate": True,
            "serve": versions["ray"] is not None and versions["grpcio"] is not None,
            "plot": versions["matplotlib"] is not None,
            "cuda_graphs": bool(gpus),
        },
    }


def lines(report: Report) -> list[str]:
    """The report for people."""
    width = max(map(len, report))
    return [f"{name.replace('_', ' '):{width}} {_shown(value)}" for name, value in report.items()]


def _embedded() -> str:
    try:
        return inspect(CHECKPOINT).family.name
    except SeerError as error:
        return f"not usable: {error}"


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _shown(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} {_shown(inner)}" for name, inner in value.items())
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "none"
    return "missing" if value is None else str(value)
