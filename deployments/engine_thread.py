"""One engine in one thread. Rows go in and deltas come out through queues; nothing else touches the engine.

Knows nothing of Serve or asyncio: `deliver` is called from the engine's thread.
"""

from __future__ import annotations

import logging
import queue
import threading
from collections import OrderedDict, deque
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from typing import Any, Protocol

from seer_core.errors import EngineError, SeerError
from seer_core.types import Delta

log = logging.getLogger("ray.serve")

Deliver = Callable[[list[Delta]], None]
REMEMBERED_CANCELS = 4096
IDLE_POLL_S = 0.5
CLOSE_S = 3.0


class EngineRow(Protocol):
    @property
    def id(self) -> str: ...


class StepEngine(Protocol):
    """What this module needs of `seer_core.engine.Engine`."""

    @property
    def free_rows(self) -> int: ...

    @property
    def idle(self) -> bool: ...

    def admit(self, rows: Sequence[Any]) -> None: ...

    def step(self) -> list[Delta]: ...

    def cancel(self, ids: Collection[str]) -> None: ...


class EngineThread:
    """Runs `engine.step` while there are rows. Rows beyond the engine's free ones wait here, first come first served.

    `progress` counts turns of the loop; a number that stands still while rows run means a frozen engine.
    """

    def __init__(self, engine: StepEngine) -> None:
        self._engine = engine
        self._commands: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._pending: deque[EngineRow] = deque()
        self._deliver: dict[str, Deliver] = {}
        self._cancelled: OrderedDict[str, None] = OrderedDict()
        self._thread = threading.Thread(target=self._loop, name="engine", daemon=True)
        self.progress = 0
        self._thread.start()

    @property
    def alive(self) -> bool:
        return self._thread.is_alive()

    @property
    def rows(self) -> int:
        """Rows running or waiting here."""
        return len(self._deliver)

    def submit(self, rows: Sequence[EngineRow], deliver: Deliver) -> None:
        """Let the rows run; their deltas go to `deliver`, each row's last one exactly once."""
        self._commands.put(lambda: self._join(rows, deliver))

    def cancel(self, ids: Collection[str]) -> None:
        """Drop these rows before the next step. A row that has not arrived yet is dropped when it does. Idempotent."""
        self._commands.put(lambda: self._drop(ids))

    def close(self) -> None:
        """End the thread after the step that runs."""
        self._commands.put(None)
        self._thread.join(timeout=CLOSE_S)

    def _loop(self) -> None:
        while self._obey():
            self.progress += 1
            self._admit()
            if not self._engine.idle:
                self._step()

    def _obey(self) -> bool:
        """Take all commands; wait for one while there is nothing to do. False ends the thread."""
        wait = self._engine.idle and not self._pending
        while True:
            try:
                command = self._commands.get(block=wait, timeout=IDLE_POLL_S if wait else None)
            except queue.Empty:
                return True
            if command is None:
                return False
            command()
            wait = False

    def _join(self, rows: Sequence[EngineRow], deliver: Deliver) -> None:
        for row in rows:
            self._deliver[row.id] = deliver
            if self._cancelled.pop(row.id, row) is None:
                self._send([_cancelled(row.id)])
            else:
                self._pending.append(row)

    def _drop(self, ids: Collection[str]) -> None:
        known = [row_id for row_id in ids if row_id in self._deliver]
        self._pending = deque(row for row in self._pending if row.id not in known)
        self._engine.cancel(known)
        self._send([_cancelled(row_id) for row_id in known])
        for row_id in set(ids).difference(known):
            self._cancelled[row_id] = None
        while len(self._cancelled) > REMEMBERED_CANCELS:
            self._cancelled.popitem(last=False)

    def _admit(self) -> None:
        while self._pending and self._engine.free_rows > 0:
            row = self._pending.popleft()
            try:
                self._engine.admit([row])
            except Exception as error:
                self._send([_failed(row.id, error)])

    def _step(self) -> None:
        try:
            deltas = self._engine.step()
        except Exception as error:
            log.exception("a step failed; its rows are answered with an error")
            ids = self._deliver.keys() - {row.id for row in self._pending}
            self._engine.cancel(ids)
            deltas = [_failed(row_id, error) for row_id in ids]
        self._send(deltas)

    def _send(self, deltas: Sequence[Delta]) -> None:
        parcels: dict[Deliver, list[Delta]] = {}
        for delta in deltas:
            deliver = self._deliver.get(delta.id)
            if deliver is not None and (delta.text or delta.last):
                parcels.setdefault(deliver, []).append(delta)
            if delta.last:
                self._deliver.pop(delta.id, None)
        for deliver, parcel in parcels.items():
            with suppress(RuntimeError):  # the reader's event loop has closed: nobody is left to tell
                deliver(parcel)


def _cancelled(row_id: str) -> Delta:
    return Delta(id=row_id, text="", error=EngineError("the row was cancelled"))


def _failed(row_id: str, error: Exception) -> Delta:
    ours = error if isinstance(error, SeerError) else EngineError("the engine failed on this request")
    return Delta(id=row_id, text="", error=ours)
