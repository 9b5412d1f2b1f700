"""The scaling rule of the workers: follow predicted work, or the number of requests where that is unknown.

Runs inside Serve's controller at every tick, so it does no I/O; and it never raises, because an exception here would
freeze the deployment of every other application.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

REQUESTS_PER_WORKER = 8


def follow_predicted_work(contexts: Mapping[Any, Any]) -> tuple[dict[Any, float], dict[Any, dict[str, Any]]]:
    """Wanted replicas by deployment. Only the Worker moves; bounds and delays are applied by Serve afterwards."""
    try:
        return _decide(contexts), {}
    except Exception:
        return {key: context.target_num_replicas for key, context in contexts.items()}, {}


def _decide(contexts: Mapping[Any, Any]) -> dict[Any, float]:
    by_work = sum(_wanted(context) for context in contexts.values())
    decision = {}
    for key, context in contexts.items():
        by_requests = context.total_num_requests / REQUESTS_PER_WORKER
        wanted = max(1, math.ceil(max(by_work, by_requests)))
        decision[key] = wanted if context.deployment_name == "Worker" else context.target_num_replicas
    return decision


def _wanted(context: Any) -> float:
    """Workers that one deployment's replicas ask for together; 0 for all but routers."""
    recorded = (context.aggregated_metrics or {}).get("wanted_workers", {})
    return float(sum(recorded.values()))
