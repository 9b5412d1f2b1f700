"""Builds the Serve application: `import_path: deployments.app:build` in serve_config.yaml. Imports no torch."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

from pydantic import Field
from ray import serve
from ray.serve import Application, Deployment

from deployments.checkpoint_parts import CheckpointParts
from deployments.ingress import Ingress
from deployments.parts import Parts
from deployments.probe import Probe
from deployments.router import Router
from deployments.schema import CommitName, Strict
from deployments.validation import parse
from deployments.worker import Worker
from seer_core.embedded import CHECKPOINT
from seer_core.errors import ConfigError, InvalidRequest
from seer_core.router import RouterConfig

IN_FLIGHT = 1024
GROUPS_PER_WORKER = 8
DRAIN_POLL_S = 0.1


class AppArgs(Strict):
    """The `args` of the application. `model` is a checkpoint folder; without it the embedded model is served.

    `family` overrides what the checkpoint looks like, `loop` its family's default way to denoise. `commit` and
    `commit_threshold` say what a step commits where the request does not. `key_memory_gib` bounds the keys and values
    of all rows that a worker runs.
    """

    model: Path | None = None
    model_name: str | None = None
    family: str | None = None
    loop: str | None = None
    commit: CommitName | None = None
    commit_threshold: float | None = Field(default=None, allow_inf_nan=False)
    device: str = "cpu"
    dtype: Literal["float32", "bfloat16", "float16"] = "float32"
    max_rows: int = Field(default=16, ge=1)
    key_memory_gib: float = Field(default=16.0, gt=0)
    probe_batch: int = Field(default=8, ge=1)
    stall_s: float = Field(default=60.0, gt=0)
    frozen_s: float = Field(default=30.0, gt=0)
    drain_s: float = Field(default=5.0, gt=0)
    router: RouterConfig = RouterConfig()

    def parts(self) -> CheckpointParts:
        folder = self.model or CHECKPOINT
        if not (folder / "config.json").exists():
            raise ConfigError(f"there is no checkpoint in {folder}: config.json is missing", field="model")
        name = self.model_name or (folder.name if self.model else "seer-embedded")
        return CheckpointParts(
            folder=folder.absolute(),
            model_name=name,
            device=self.device,
            dtype=self.dtype,
            family=self.family,
            loop=self.loop,
            commit=self.commit,
            commit_threshold=self.commit_threshold,
            key_memory_bytes=int(self.key_memory_gib * 2**30),
        )

    def working_parts(self) -> CheckpointParts:
        """The parts, after all that can be checked before weights are read; raises ConfigError."""
        parts = self.parts()
        parts.check()
        return parts


def build(args: dict[str, Any]) -> Application:
    """The application of a configuration.

    Raises ConfigError naming the argument that is unknown or wrong, or what is wrong with the checkpoint.
    """
    valid = checked(args)
    return assemble(valid, valid.working_parts())


def checked(args: dict[str, Any]) -> AppArgs:
    """The arguments, validated. Raises ConfigError."""
    try:
        return parse(AppArgs, args)
    except InvalidRequest as error:
        raise ConfigError(error.message, field=error.field) from error


def assemble(args: AppArgs, parts: Parts, *, local: bool = False) -> Application:
    """The four deployments, bound to each other. `local` is for Ray's local testing mode."""
    worker = _deployment(GROUPS_PER_WORKER)(Worker)
    router, probe, ingress = (_deployment(IN_FLIGHT)(part) for part in (Router, Probe, serve.ingress()(Ingress)))
    workers = worker.bind(parts, max_rows=args.max_rows, frozen_s=args.frozen_s, local=local)
    routers = router.bind(
        workers, args.router, max_rows=args.max_rows, stall_s=args.stall_s, drain_s=args.drain_s, local=local
    )
    probes = probe.bind(parts, max_batch=args.probe_batch, local=local)
    return ingress.options(name="Ingress").bind(parts, probes, routers)


def _deployment(max_ongoing_requests: int) -> Callable[[Callable[..., Any]], Deployment]:
    """Replicas that reserve no CPU: on a small machine all four parts share what there is."""
    return serve.deployment(
        max_ongoing_requests=max_ongoing_requests,
        graceful_shutdown_wait_loop_s=DRAIN_POLL_S,
        ray_actor_options={"num_cpus": 0},
    )
