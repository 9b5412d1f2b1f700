"""The parts of a checkpoint folder. What needs torch is imported when it is asked for, in the replica that asks."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from deployments.engine_thread import StepEngine
from deployments.parts import Forecaster, Prepare

if TYPE_CHECKING:
    import torch


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointParts:
    """The parts of a checkpoint folder. Only `prepare` needs no torch."""

    folder: Path
    model_name: str
    device: str = "cpu"
    dtype: str = "float32"

    def prepare(self) -> Prepare:
        from seer_core.families.registry import load_processor

        return load_processor(self.folder).prepare

    def forecaster(self) -> Forecaster:
        from seer_core.families.registry import inspect, load_model
        from seer_core.pipeline import find_profile
        from seer_core.probe.probe import Probe

        info = inspect(self.folder)
        model = load_model(self.folder, device=self.device, dtype=self._torch_dtype())
        return Probe(model, info.roles, find_profile(info), prefix_lm=info.family.prefix_lm)

    def engine(self, max_rows: int) -> StepEngine:
        from seer_core.engine.config import EngineConfig
        from seer_core.engine.engine import Engine
        from seer_core.engine.graphs import graphs_for
        from seer_core.families.registry import inspect, load_decoder, load_processor

        info = inspect(self.folder)
        decoder = load_decoder(self.folder, device=self.device, dtype=self._torch_dtype())
        config = EngineConfig(max_rows=max_rows, block_length=info.family.block_length)
        decode = load_processor(self.folder).decode
        graphs = graphs_for(decoder.device)
        engine = Engine(decoder, info.roles, decode, config, prefix_lm=info.family.prefix_lm, graphs=graphs)
        engine.prepare()  # a replica is not ready before
        return engine

    def _torch_dtype(self) -> torch.dtype:
        import torch

        dtype: torch.dtype = getattr(torch, self.dtype)
        return dtype
