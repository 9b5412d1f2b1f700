"""The watcher counts the workers that take requests, and no others."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from ray import serve

from load_tests.watch import running_workers


def test_only_running_workers_count(monkeypatch: pytest.MonkeyPatch) -> None:
    worker = SimpleNamespace(replica_states={"RUNNING": 2, "STARTING": 1, "STOPPING": 3})
    router = SimpleNamespace(replica_states={"RUNNING": 5})
    seer = SimpleNamespace(deployments={"Worker": worker, "Router": router})
    other = SimpleNamespace(deployments={"Shop": router})
    monkeypatch.setattr(serve, "status", lambda: SimpleNamespace(applications={"seer": seer, "other": other}))
    assert running_workers() == 2


def test_before_the_service_is_deployed_there_are_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serve, "status", lambda: SimpleNamespace(applications={}))
    assert running_workers() == 0
