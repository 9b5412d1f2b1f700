"""Seer against the best rival that keeps the answers, place by place: also where it loses, and by how much."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from seer_core.tools.rivals.methods import BASELINE

Row = dict[str, Any]

RIVALS = ("early_stop", "daedal", "daedal_16", "fastdllm_prefix", "fastdllm_dual")
OURS = ("seer", "seer_threshold", "seer_fastdllm_dual")
DETECTORS = ("smartcrop", "first_end")
KEEPS = 0.99
"""What agrees less often with the untruncated answers is not compared on speed, be it a rival's or ours."""


def verdicts(rows: Sequence[Row]) -> list[Row]:
    """One row per canvas and batch that were timed: the best rival, and how many times as fast ours are.

    Every ratio is the median of those inside a round; by CPU time where the name says so.
    """
    places = sorted({(row["canvas"], row["batch"]) for row in rows if _timed(row)})
    return [
        _verdict([row for row in rows if (row["canvas"], row["batch"]) == place and _timed(row)]) for place in places
    ]


def _verdict(rows: Sequence[Row]) -> Row:
    timed = {row["method"]: row for row in rows}
    keeping = [name for name in RIVALS if _keeps(timed, name)]
    best = max(keeping, key=lambda name: float(timed[name]["ratio_to_baseline"]), default=BASELINE)
    seer = timed.get("seer", {})
    ours = [name for name in OURS if _keeps(timed, name)]
    return {
        "canvas": rows[0]["canvas"],
        "batch": rows[0]["batch"],
        "best_rival": best,
        "best_rival_ratio": timed[best]["ratio_to_baseline"],
        "seer_ratio": seer.get("ratio_to_baseline"),
        **{f"{name}_against_best": timed[name]["ratio_to"][best] for name in ours},
        **{f"{name}_against_best_cpu": timed[name]["cpu_ratio_to"][best] for name in ours},
        **{f"seer_to_{name}": seer["ratio_to"].get(name) for name in DETECTORS if seer},
        "seer_to_oracle": seer.get("ratio_to_oracle"),
        "seer_to_free_oracle": seer["ratio_to"].get("oracle_free") if seer else None,
    }


def _timed(row: Row) -> bool:
    return row.get("ratio_to_baseline") is not None


def _keeps(timed: Mapping[str, Row], name: str) -> bool:
    return name in timed and (timed[name].get("exact_agreement") or 0.0) >= KEEPS
