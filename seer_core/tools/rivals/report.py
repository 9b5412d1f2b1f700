"""What a benchmark's JSON says beside its rows: how long the answers are, on what machine, in which versions."""

from __future__ import annotations

import os
import platform
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from seer_core.pipeline import Pipeline
from seer_core.tools.digest import digest
from seer_core.tools.evaluate import Sample
from seer_core.tools.scenes import LENGTH_DEPENDS

Facts = dict[str, Any]


def lengths_of(pipeline: Pipeline, samples: Sequence[Sample]) -> Facts:
    """Tokens of the right answers, and the share of questions whose answer's length depends on the image."""
    tokens = [len(pipeline.processor.tokenizer.encode(sample.answer)) for sample in samples]
    return {
        "rows": len(tokens),
        "least_tokens": min(tokens),
        "mean_tokens": round(float(np.mean(tokens)), 2),
        "most_tokens": max(tokens),
        "length_depends_on_image": float(np.mean([sample.kind in LENGTH_DEPENDS for sample in samples])),
        "kinds": {kind: sum(s.kind == kind for s in samples) for kind in sorted({s.kind for s in samples})},
    }


def machine() -> Facts:
    """Where the numbers are from."""
    return {
        "platform": platform.platform(),
        "processor": _processor(),
        "cpus": os.cpu_count(),
        "threads": torch.get_num_threads(),
        "torch": torch.__version__,
        "python": platform.python_version(),
    }


def identity(pipeline: Pipeline, data: str) -> Facts:
    """What cells must have in common: weights, profile, family and its loop, questions, device and dtype."""
    decoder = pipeline.probe.model.decoder
    return {
        "fingerprint": pipeline.info.fingerprint(),
        "profile": digest(pipeline.probe.profile),
        "family": pipeline.info.family.name,
        "loop": digest(pipeline.info.loop),
        "data": data,
        "device": decoder.device.type,
        "dtype": str(decoder.embedding.weight.dtype).removeprefix("torch."),
    }


def _processor() -> str:
    try:
        with open("/proc/cpuinfo") as lines:
            named = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    except OSError:
        named = []
    return named[0] if named else platform.processor()
