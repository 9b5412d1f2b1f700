"""lm-eval, an evaluation harness that knows nothing of this service, asks it over loopback and finds its answers."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from seer_core.pipeline import Pipeline
from seer_core.tools.evaluate import evaluate
from seer_core.tools.evaluation_file import EvaluationFile
from seer_core.tools.sample_file import open_samples
from tests.e2e.conftest import ROOT, RunningService

pytestmark = pytest.mark.timeout(300)

TASKS = ROOT / "examples" / "evaluation"


def ask_with_lm_eval(service: RunningService, cache: Path) -> dict[str, Any]:
    """The task's score, and the answers by the rows' ids."""
    url = f"{service.url}/v1/chat/completions"
    command = [sys.executable, str(Path(__file__).with_name("lm_eval_client.py")), url, str(TASKS)]
    environment = os.environ | {"HF_HUB_OFFLINE": "1", "HF_HOME": str(cache), "OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=280, check=False)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def test_lm_eval_finds_the_answers_and_the_score_that_seer_evaluate_finds(
    service: RunningService, tmp_path: Path
) -> None:
    found = ask_with_lm_eval(service, tmp_path)
    kept = EvaluationFile(tmp_path / "records.jsonl", {})
    samples = open_samples(TASKS / "scenes.jsonl")
    summary = evaluate(Pipeline.load(), samples, canvas_tokens=64, kept=kept, progress=False)
    assert found["answers"] == {record.id: record.text for record in kept.records.values()}
    assert found["score"] == pytest.approx(summary["exact_match"])
