"""A child process is read line by line, and nothing of it is left behind."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from load_tests.program import Program
from load_tests.run import first_line

DEAF_FAMILY = """
import signal, subprocess, sys, time
signal.signal(signal.SIGINT, signal.SIG_IGN)
deaf = "import signal, time; signal.signal(signal.SIGINT, signal.SIG_IGN); time.sleep(60)"
child = subprocess.Popen([sys.executable, "-c", deaf])
print(child.pid, flush=True)
{then}
"""


def wait_until(true: Callable[[], bool]) -> None:
    deadline_s = time.monotonic() + 20
    while not true():
        assert time.monotonic() < deadline_s
        time.sleep(0.02)


def start(program: str, tmp_path: Path) -> Program:
    return Program([sys.executable, "-c", program], log=tmp_path / "log", grace_s=0.2)


def read_pid(program: Program) -> int:
    return int(first_line(program, "it said nothing"))


def gone(pid: int) -> bool:
    return not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE


def test_what_it_is_sent_comes_back_in_lines_and_its_complaints_are_kept(tmp_path: Path) -> None:
    code = "import sys; print(sys.stdin.read().upper()); print('oh dear', file=sys.stderr)"
    with start(code, tmp_path) as program:
        program.send("one\ntwo")
        wait_until(lambda: not program.running)
        assert [line.strip() for line in program.lines()] == ["ONE", "TWO"]
        assert program.complaint() == "oh dear"


def test_a_family_that_ignores_the_interrupt_is_ended_whole(tmp_path: Path) -> None:
    with start(DEAF_FAMILY.format(then="time.sleep(60)"), tmp_path) as program:
        child = read_pid(program)
    wait_until(lambda: gone(child))


def test_children_of_a_parent_that_crashed_are_ended_too(tmp_path: Path) -> None:
    with start(DEAF_FAMILY.format(then="sys.stdin.read(); sys.exit(3)"), tmp_path) as program:
        child = read_pid(program)
        assert program.running
        program.send("")
        wait_until(lambda: not program.running)
        assert not gone(child)
    wait_until(lambda: gone(child))


def test_an_exception_inside_ends_it_as_well(tmp_path: Path) -> None:
    program = start("import time; time.sleep(60)", tmp_path)

    def fail() -> None:
        with program:
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert not program.running
