"""The processes below this one, so that none outlives it. A process is known by its id and start time."""

from __future__ import annotations

import time
from collections.abc import Collection
from contextlib import suppress

import psutil

POLL_S = 0.1


def descendants(pid: int) -> set[psutil.Process]:
    """All processes below `pid`, itself left out; none where it is gone."""
    with suppress(psutil.NoSuchProcess):
        return living(psutil.Process(pid).children(recursive=True))
    return set()


def living(processes: Collection[psutil.Process]) -> set[psutil.Process]:
    """Those that still run; one that only waits to be reaped does not."""
    return {process for process in processes if _lives(process)}


def end(processes: Collection[psutil.Process], patience_s: float) -> None:
    """Return once none of them lives; those that do after `patience_s` are killed."""
    deadline_s = time.monotonic() + patience_s
    while (left := living(processes)) and time.monotonic() < deadline_s:
        time.sleep(POLL_S)
    for process in left:
        with suppress(psutil.NoSuchProcess):
            process.kill()


def _lives(process: psutil.Process) -> bool:
    try:
        return bool(process.is_running() and process.status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False
