"""Step time by replayed graphs against eager, at every batch size. Measures; judges nothing."""

from __future__ import annotations

from time import perf_counter
from typing import Any

import torch

from seer_core.config import LoopFacts
from seer_core.engine.graphs.backend import GraphBackend
from seer_core.tools.engine_bench.modes import way_of
from seer_core.tools.engine_bench.rig import Rig, Way
from seer_core.tools.gpu_check.graphs import random_decoder, roles_of
from seer_core.tools.gpu_check.sizes import Sizes
from seer_core.tools.gpu_check.timing import median_s
from seer_core.types import Decoding


def measure_replay(device: torch.device, graphs: GraphBackend, sizes: Sizes) -> dict[str, Any]:
    """Milliseconds of a forward, and of a whole step with head and commits, by batch size."""
    decoder = random_decoder(sizes.decoder, device, sizes.dtype)
    places = sizes.batches[-1] * (sizes.prompt_tokens + sizes.canvas_tokens)
    rig = Rig(decoder, roles_of(sizes.decoder), loop=LoopFacts(prefix_lm=True), places=places, graphs=graphs)
    pool = rig.forward.graphs
    assert pool is not None
    largest = rig.config.padded_shape(sizes.batches[-1], sizes.canvas_tokens, sizes.prompt_tokens)
    pool.prepare([largest])
    rows = [_at(rig, sizes, batch) for batch in sizes.batches]
    return {"ok": len(pool.captured) == len(rows), "graph_mib": round(pool.size_bytes / 2**20, 1), "rows": rows}


def _at(rig: Rig, sizes: Sizes, batch: int) -> dict[str, Any]:
    static = way_of("static", rig)
    ways = {"replay": static, "eager": Way(lineup=static.lineup, forward=way_of("eager", rig).forward)}
    found: dict[str, Any] = {"batch": batch}
    for name, way in ways.items():
        found[f"{name}_forward_ms"] = round(1000 * _forward_s(rig, way, sizes, batch), 3)
        found[f"{name}_step_ms"] = round(1000 * _step_s(rig, way, sizes, batch), 3)
    found["forward_ratio"] = round(found["eager_forward_ms"] / found["replay_forward_ms"], 2)
    found["step_ratio"] = round(found["eager_step_ms"] / found["replay_step_ms"], 2)
    return found


def _forward_s(rig: Rig, way: Way, sizes: Sizes, batch: int) -> float:
    """The same forward again and again, before anything is committed."""
    rows = rig.start([sizes.canvas_tokens] * batch, sizes.prompt_tokens, lambda _: Decoding())
    (whole,) = way.lineup.batches(rows)
    with torch.inference_mode():
        inputs = whole.inputs(rig.decoder)
    seconds = median_s(lambda: way.forward(whole.shape, inputs, captured=True), rig.device)
    rig.end(rows)
    way.lineup.forget(rows)
    return seconds


def _step_s(rig: Rig, way: Way, sizes: Sizes, batch: int) -> float:
    """All steps of the rows over their number."""
    rows = rig.start([sizes.canvas_tokens] * batch, sizes.prompt_tokens, lambda _: Decoding(steps_per_token=0.5))
    rig.synchronize()
    start = perf_counter()
    steps = rig.run(way, rows)
    return (perf_counter() - start) / steps
