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


def ask_with_lm_eval(service: RunningService, folder: Path) -> tuple[dict[str, Any], dict[str, str]]:
    """The task's results, and the answers by the rows' ids."""
    model = f"model=seer-embedded,base_url={service.url}/v1/chat/completions,num_concurrent=4,max_retries=1"
    command = [sys.executable, "-m", "lm_eval", "--model", "local-chat-completions", "--model_args", model]
    command += ["--include_path", str(TASKS), "--tasks", "seer_scenes", "--apply_chat_template"]
    command += ["--log_samples", "--output_path", str(folder)]
    environment = os.environ | {"HF_HUB_OFFLINE": "1", "HF_HOME": str(folder / "hf"), "OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=280, check=False)
    assert done.returncode == 0, done.stderr
    (results,) = folder.glob("**/results_*.json")
    (samples,) = folder.glob("**/samples_*.jsonl")
    rows = [json.loads(line) for line in samples.read_text().splitlines()]
    scores: dict[str, Any] = json.loads(results.read_text())["results"]["seer_scenes"]
    return scores, {row["doc"]["id"]: row["resps"][0][0] for row in rows}


def test_lm_eval_finds_the_answers_and_the_score_that_seer_evaluate_finds(
    service: RunningService, tmp_path: Path
) -> None:
    scores, answers = ask_with_lm_eval(service, tmp_path)
    kept = EvaluationFile(tmp_path / "records.jsonl", {})
    samples = open_samples(TASKS / "scenes.jsonl")
    summary = evaluate(Pipeline.load(), samples, canvas_tokens=64, kept=kept, progress=False)
    assert answers == {record.id: record.text for record in kept.records.values()}
    assert scores["exact_match,none"] == pytest.approx(summary["exact_match"])
