"""The parts of a checkpoint folder. What needs torch is imported when it is asked for, in the replica that asks."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from deployments.engine_thread import StepEngine
from deployments.parts import Forecaster, Prepare
from seer_core.embedded import CHECKPOINT

if TYPE_CHECKING:
    import torch

    from seer_core.config import LoopFacts
    from seer_core.families.checkpoint import CheckpointInfo


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointParts:
    """The parts of a checkpoint folder. Only `prepare` needs no torch.

    `commit` and `commit_threshold` take the place of the loop's own for requests that name none.
    """

    folder: Path
    model_name: str
    device: str = "cpu"
    dtype: str = "float32"
    family: str | None = None
    loop: str | None = None
    commit: str | None = None
    commit_threshold: float | None = None
    key_memory_bytes: int = 16 * 2**30

    @property
    def calibrated(self) -> bool:
        return self._info().calibrated

    def check(self) -> None:
        """All that can be known before a weight is read: options, tokenizer, every tensor's name and shape.

        Raises `ConfigError` or `WeightsError` that names the option, the file or the tensor.
        """
        info = self._info()
        self.prepare()
        if self.folder != CHECKPOINT.absolute():  # torch takes seconds that the shipped model need not cost
            from seer_core.families.network import check_tensors

            check_tensors(info)

    def prepare(self) -> Prepare:
        from seer_core.families.registry import load_processor

        return load_processor(self.folder, self.family).prepare

    def forecaster(self) -> Forecaster:
        from seer_core.families.registry import load_model
        from seer_core.pipeline import find_profile
        from seer_core.probe.probe import Probe

        info = self._info()
        model = load_model(self.folder, device=self.device, dtype=self._torch_dtype(), family=self.family)
        return Probe(model, info.roles, find_profile(info), loop=info.loop)

    def engine(self, max_rows: int) -> StepEngine:
        from seer_core.engine.config import EngineConfig
        from seer_core.engine.engine import Engine
        from seer_core.engine.graphs import graphs_for
        from seer_core.families.registry import load_decoder, load_processor

        info = self._info()
        decoder = load_decoder(self.folder, device=self.device, dtype=self._torch_dtype(), family=self.family)
        config = EngineConfig(max_rows=max_rows, key_memory_bytes=self.key_memory_bytes)
        decode = load_processor(self.folder, self.family).decode
        graphs = graphs_for(decoder.device)
        engine = Engine(decoder, info.roles, decode, config, loop=self._committing(info.loop), graphs=graphs)
        engine.prepare()  # a replica is not ready before
        return engine

    def _committing(self, loop: LoopFacts) -> LoopFacts:
        return replace(
            loop,
            commit=loop.commit if self.commit is None else self.commit,
            commit_threshold=loop.commit_threshold if self.commit_threshold is None else self.commit_threshold,
        )

    def _info(self) -> CheckpointInfo:
        from seer_core.families.checkpoint import inspect

        return inspect(self.folder, self.family, self.loop)

    def _torch_dtype(self) -> torch.dtype:
        import torch

        dtype: torch.dtype = getattr(torch, self.dtype)
        return dtype
