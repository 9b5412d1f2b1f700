"""A child process that reports in lines. It and its family are ended by process id, never by name."""

from __future__ import annotations

import os
import queue
import signal
import subprocess
import threading
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

import psutil

FOLDER = Path(__file__).parents[1]
"""Where the packages lie; every child starts there."""


class Program:
    """Starts `command` in its own session, so that Ctrl-C reaches it through us alone.

    Its standard output is read line by line; what it says on standard error goes to `log`, which keeps this process
    from blocking on a full pipe. Leaving the context ends it and every process it started.
    """

    def __init__(
        self, command: Sequence[str], *, log: Path, env: Mapping[str, str] | None = None, grace_s: float = 5.0
    ) -> None:
        self._log = log
        self._grace_s = grace_s
        self._lines: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._family: set[psutil.Process] = set()
        with log.open("w", encoding="utf-8") as errors:
            self._process = subprocess.Popen(
                command,
                cwd=FOLDER,
                env=None if env is None else {**os.environ, **env},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
                start_new_session=True,
            )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    @property
    def running(self) -> bool:
        self.family()
        return self._process.poll() is None

    def send(self, text: str) -> None:
        """Write to its standard input, and close that."""
        assert self._process.stdin is not None
        self._process.stdin.write(text)
        self._process.stdin.close()

    def lines(self) -> Iterator[str]:
        """The lines that have arrived since the last call; all that were left, if it has ended."""
        if self._process.poll() is not None:
            self._reader.join(timeout=5.0)
        while not self._lines.empty():
            yield self._lines.get()

    def family(self) -> set[psutil.Process]:
        """Its process and all that were ever seen to descend from it: they outlive a parent that crashed."""
        try:
            parent = psutil.Process(self._process.pid)
            self._family.update([parent, *parent.children(recursive=True)])
        except psutil.NoSuchProcess:
            pass
        return self._family

    def stop(self) -> None:
        """Interrupt it as Ctrl-C would, wait for `grace_s`, and kill whatever is left of its family."""
        if self.running:
            self._process.send_signal(signal.SIGINT)
        _, left = psutil.wait_procs(self._family, timeout=self._grace_s)
        for process in left:
            _kill(process)
        psutil.wait_procs(left, timeout=5.0)
        self._process.wait()
        self._reader.join(timeout=5.0)
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None and not pipe.closed:
                pipe.close()

    def complaint(self) -> str:
        """The last it said on standard error."""
        return "\n".join(self._log.read_text(encoding="utf-8", errors="replace").splitlines()[-15:])

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._lines.put(line)


def _kill(process: psutil.Process) -> None:
    try:
        process.kill()
    except psutil.NoSuchProcess:
        return
