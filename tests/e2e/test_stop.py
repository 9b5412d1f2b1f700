"""Ctrl-C. The name of this file puts it last: it ends the service that the others share."""

from __future__ import annotations

import subprocess

import pytest

from tests.e2e.conftest import RunningService, stop


@pytest.mark.timeout(300)
def test_ctrl_c_ends_everything_within_ten_seconds(service: RunningService) -> None:
    below = service.processes()
    assert len(below) > 5
    assert stop(service, 60.0) < 10.0
    listing = subprocess.run(["ps", "-A", "-o", "pid=,lstart="], capture_output=True, text=True, check=True).stdout
    left = {tuple(line.split(maxsplit=1)) for line in listing.splitlines()}
    assert not {(str(process.pid), process.started) for process in below} & left
    assert service.process.returncode == 0
