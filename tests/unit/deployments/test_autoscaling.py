"""The scaling rule follows predicted work and never raises."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest

from deployments.autoscaling import follow_predicted_work


@dataclass
class Context:
    deployment_name: str
    target_num_replicas: int = 1
    total_num_requests: float = 0.0
    aggregated_metrics: Any = field(default_factory=dict)


def wanted(router: Context, worker: Context) -> float:
    decision, _ = follow_predicted_work({"router": router, "worker": worker})
    assert decision["router"] == router.target_num_replicas
    return decision["worker"]


@pytest.mark.parametrize(("work", "workers"), [(0.0, 1), (0.4, 1), (1.2, 2), (3.9, 4)])
def test_workers_follow_the_predicted_work_of_all_routers(work: float, workers: int) -> None:
    router = Context("Router", aggregated_metrics={"wanted_workers": {"a": work / 2, "b": work / 2}})
    assert wanted(router, Context("Worker")) == workers


def test_requests_count_where_no_work_is_recorded() -> None:
    assert wanted(Context("Router", aggregated_metrics=None), Context("Worker", total_num_requests=17)) == 3


def test_a_broken_number_leaves_everything_as_it_is() -> None:
    router = Context("Router", aggregated_metrics={"wanted_workers": {"a": "many"}})
    assert wanted(router, Context("Worker", target_num_replicas=2)) == 2
