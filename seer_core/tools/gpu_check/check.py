"""All checks in their order, each with its findings, within a budget of seconds. Knows not what a check does."""

from __future__ import annotations

import platform
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from importlib import metadata
from types import MappingProxyType
from typing import Any

import torch

from seer_core.engine.graphs.backend import GraphBackend
from seer_core.tools.gpu_check import bandwidth, graphs, kernels, replay
from seer_core.tools.gpu_check.kernels import Kernels, kernels_for
from seer_core.tools.gpu_check.sizes import Sizes

Finding = dict[str, Any]
"""Numbers, and `ok`."""

BUDGET_S = 300.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Bench:
    """The device, what captures on it, and how large things are there."""

    device: torch.device
    graphs: Callable[[], GraphBackend]
    sizes: Sizes


Check = Callable[[Bench, Kernels], Finding]


def _of_kernel(check: Callable[[Kernels, torch.device, Sizes], Finding], bench: Bench, own: Kernels) -> Finding:
    return check(own, bench.device, bench.sizes)


CHECKS: Mapping[str, Check] = MappingProxyType(
    {
        "confidence": partial(_of_kernel, kernels.check_confidence),
        "sparsity": partial(_of_kernel, kernels.check_sparsity),
        "compact": partial(_of_kernel, kernels.check_compact),
        "varlen_attention": partial(_of_kernel, kernels.check_attention),
        "graph_is_eager": lambda bench, _: graphs.check_graphs(bench.device, bench.graphs()),
        "bandwidth": partial(_of_kernel, bandwidth.measure_bandwidth),
        "replay_against_eager": lambda bench, _: replay.measure_replay(bench.device, bench.graphs(), bench.sizes),
    }
)


def report(
    bench: Bench,
    *,
    say: Callable[[str], object],
    clock: Callable[[], float],
    own: Kernels | None = None,
    budget_s: float = BUDGET_S,
) -> Finding:
    """Run every check, or say why not; one that raises has failed, and the others still run."""
    own, start = own or kernels_for(bench.device), clock()
    found: dict[str, Finding] = {}
    for name, check in CHECKS.items():
        began = clock()
        if began - start > budget_s:
            found[name] = {"ok": False, "error": f"not run: the checks before took more than {budget_s:.0f} s"}
        else:
            found[name] = _tried(check, bench, own)
        found[name]["seconds"] = round(clock() - began, 2)
        say(f"{'ok' if found[name]['ok'] else 'FAILED':7} {name}: {found[name]}")
    return {
        "ok": all(finding["ok"] for finding in found.values()),
        **_versions(bench.device),
        "seconds": round(clock() - start, 1),
        "checks": found,
    }


def _tried(check: Check, bench: Bench, own: Kernels) -> Finding:
    try:
        return check(bench, own)
    except Exception as error:
        return {"ok": False, "error": f"{type(error).__name__}: {error}"}


def _versions(device: torch.device) -> Finding:
    name = torch.cuda.get_device_name(device) if device.type == "cuda" else device.type
    triton = metadata.version("triton")
    return {"device": name, "python": platform.python_version(), "torch": torch.__version__, "triton": triton}
