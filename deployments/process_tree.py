"""The processes below this one, so that none outlives it. Reads `ps`; a process is known by its id and start time."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Process:
    """One process. The start time tells it from a later one of the same id."""

    pid: int
    started: str


def descendants(pid: int) -> set[Process]:
    """All processes below `pid`, itself left out."""
    children: dict[int, list[Process]] = {}
    for process, parent in _all():
        children.setdefault(parent, []).append(process)
    found: set[Process] = set()
    open_pids = [pid]
    while open_pids:
        for child in children.get(open_pids.pop(), []):
            found.add(child)
            open_pids.append(child.pid)
    return found


def end(processes: Collection[Process], patience_s: float) -> None:
    """Return once none of them lives; those that do after `patience_s` are killed."""
    deadline_s = time.monotonic() + patience_s
    while (alive := _alive(processes)) and time.monotonic() < deadline_s:
        time.sleep(0.1)
    for process in alive:
        with suppress(ProcessLookupError):
            os.kill(process.pid, signal.SIGKILL)


def _alive(processes: Collection[Process]) -> set[Process]:
    return set(processes) & {process for process, _ in _all()}


def _all() -> list[tuple[Process, int]]:
    """Every process that is no zombie, with its parent's id."""
    command = ["ps", "-A", "-o", "pid=,ppid=,stat=,lstart="]
    lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    rows = [line.split(maxsplit=3) for line in lines]
    return [(Process(int(pid), started), int(parent)) for pid, parent, state, started in rows if state[0] != "Z"]
