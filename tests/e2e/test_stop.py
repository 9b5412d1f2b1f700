"""Ctrl-C. The name of this file puts it last: it ends the service that the others share."""

from __future__ import annotations

import pytest

from deployments.process_tree import living
from tests.e2e.conftest import RunningService, stop


@pytest.mark.timeout(300)
def test_ctrl_c_ends_everything_within_ten_seconds(service: RunningService) -> None:
    below = service.processes()
    assert len(below) > 5
    assert stop(service, 60.0) < 10.0
    assert living(below) == set()
    assert service.process.returncode == 0
