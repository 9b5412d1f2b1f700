"""Runs the scenes' task with lm-eval in a process of its own: `lm_eval_client.py URL FOLDER`, JSON as its last line.

What `lm_eval` itself runs from its command line, without the index of all its other tasks.
"""

from __future__ import annotations

import json
import sys

from lm_eval import simple_evaluate
from lm_eval.tasks import TaskManager


def main(url: str, folder: str) -> None:
    found = simple_evaluate(
        model="local-chat-completions",
        model_args={"model": "seer-embedded", "base_url": url, "num_concurrent": 4, "max_retries": 1},
        tasks=["seer_scenes"],
        task_manager=TaskManager(include_path=folder, include_defaults=False),
        apply_chat_template=True,
        bootstrap_iters=0,
    )
    answers = {row["doc"]["id"]: row["resps"][0][0] for row in found["samples"]["seer_scenes"]}
    score = found["results"]["seer_scenes"]["exact_match,none"]
    sys.stdout.write(json.dumps({"score": score, "answers": answers}) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
