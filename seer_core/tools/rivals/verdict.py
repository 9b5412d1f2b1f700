"""Seer against the best rival that keeps the answers, place by place: also where it loses, and by how much."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from seer_core.tools.rivals.methods import BASELINE

Row = dict[str, Any]

RIVALS = ("early_stop", "daedal", "daedal_16", "fastdllm_prefix", "fastdllm_dual")
OURS = ("seer", "seer_threshold", "seer_fastdllm_dual")
KEEPS = 0.99
"""A rival whose answers agree less often with the untruncated ones is not compared on speed."""


def verdicts(rows: Sequence[Row]) -> list[Row]:
    """One row per canvas and batch that were timed: the best rival, and how many times as fast ours are."""
    places = sorted({(row["canvas"], row["batch"]) for row in rows if row.get("ratio_to_baseline") is not None})
    return [_verdict(rows, *place) for place in places]


def _verdict(rows: Sequence[Row], canvas: int, batch: int) -> Row:
    timed = {
        row["method"]: row
        for row in rows
        if (row["canvas"], row["batch"]) == (canvas, batch) and row.get("ratio_to_baseline") is not None
    }
    keeping = [name for name in RIVALS if name in timed and (timed[name].get("exact_agreement") or 0.0) >= KEEPS]
    best = max(keeping, key=lambda name: float(timed[name]["ratio_to_baseline"]), default=BASELINE)
    theirs = timed[best]["ratio_to_baseline"]
    ours = {f"{name}_against_best": timed[name]["ratio_to_baseline"] / theirs for name in OURS if name in timed}
    seer = timed.get("seer", {})
    free = timed.get("oracle_free")
    return {
        "canvas": canvas,
        "batch": batch,
        "best_rival": best,
        "best_rival_ratio": theirs,
        "seer_ratio": seer.get("ratio_to_baseline"),
        **ours,
        "seer_to_oracle": seer.get("ratio_to_oracle"),
        "seer_to_free_oracle": seer["ratio_to_baseline"] / free["ratio_to_baseline"] if seer and free else None,
    }
