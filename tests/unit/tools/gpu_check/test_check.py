"""The whole check, on a CPU with recordings and tiny sizes."""

from __future__ import annotations

import json
import subprocess
import sys
from itertools import count

import pytest
import torch
from torch import Tensor

from seer_core.config import DecoderConfig
from seer_core.engine.graphs.recording import RecordingGraphs
from seer_core.kernels.confidence import Confidence, Measure
from seer_core.tools.gpu_check.__main__ import main
from seer_core.tools.gpu_check.check import CHECKS, Bench, report
from seer_core.tools.gpu_check.kernels import kernels_for
from seer_core.tools.gpu_check.sizes import Sizes

CPU = torch.device("cpu")
TINY = Sizes(
    decoder=DecoderConfig(
        hidden_size=16,
        layers=2,
        heads=2,
        kv_heads=2,
        mlp_size=24,
        vocab_size=48,
        rope_theta=10000.0,
        norm_eps=1e-5,
        max_positions=512,
    ),
    dtype=torch.float32,
    batches=(1, 3),
    canvas_tokens=6,
    prompt_tokens=4,
    vocabularies=(63,),
    stream_mib=1,
)
BENCH = Bench(device=CPU, graphs=RecordingGraphs, sizes=TINY)


def ticks(step_s: float = 1.0) -> count[float]:
    return count(0.0, step_s)


def test_every_check_reports_numbers_that_fit_one_json_line() -> None:
    said: list[str] = []
    clock = ticks()
    found = report(BENCH, say=said.append, clock=lambda: next(clock))
    assert found["ok"], found
    assert found["checks"].keys() == CHECKS.keys()
    assert len(said) == len(CHECKS)
    assert "\n" not in json.dumps(found)
    rows = found["checks"]["replay_against_eager"]["rows"]
    assert [row["batch"] for row in rows] == [1, 3]
    assert all(row["replay_step_ms"] > 0 < row["eager_forward_ms"] for row in rows)
    kernels = found["checks"]["bandwidth"]
    assert all(kernels[name]["to_copy"] > 0 for name in ("confidence", "sparsity", "varlen_attention"))


def test_a_check_that_raises_has_failed_and_the_others_still_run() -> None:
    def broken(logits: Tensor, excluded: int, measure: Measure) -> Confidence:
        raise RuntimeError("no such kernel")

    clock = ticks()
    own = kernels_for(CPU)._replace(confidence=broken)
    found = report(BENCH, say=lambda _: None, clock=lambda: next(clock), own=own)
    assert not found["ok"]
    assert found["checks"]["confidence"]["error"] == "RuntimeError: no such kernel"
    assert found["checks"]["sparsity"]["ok"]


def test_what_the_budget_has_no_time_for_is_not_run_and_not_ok() -> None:
    clock = ticks(100.0)
    found = report(BENCH, say=lambda _: None, clock=lambda: next(clock), budget_s=150.0)
    assert found["checks"]["confidence"]["ok"]
    assert "not run" in found["checks"]["compact"]["error"]
    assert not found["ok"]


def test_without_a_device_it_skips_with_a_reason(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert main() == 0
    assert json.loads(capsys.readouterr().out.splitlines()[-1]) == {"ok": True, "skipped": "no CUDA device"}


def test_it_needs_no_server_and_no_preprocessing() -> None:
    unwanted = ["ray", "pydantic", "fastapi", "grpc", "transformers", "tokenizers", "PIL", "matplotlib"]
    lines = f"import sys, seer_core.tools.gpu_check.__main__; print([n for n in {unwanted} if n in sys.modules])"
    done = subprocess.run([sys.executable, "-c", lines], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
