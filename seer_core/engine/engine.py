"""Rows in, text out: one denoising step at a time for all rows that run.

Synchronous and used from one thread. Knows no clock, no queue and no family; who runs together is decided elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from traceback import clear_frames

import torch

from seer_core.config import LoopFacts
from seer_core.engine.batch import Batch
from seer_core.engine.config import EngineConfig
from seer_core.engine.denoiser import denoise
from seer_core.engine.footprint import Footprint
from seer_core.engine.forward import StepInputs, forward_over
from seer_core.engine.graphs.backend import GraphBackend
from seer_core.engine.graphs.pool import GraphPool
from seer_core.engine.intake import Intake
from seer_core.engine.key_pool import KeyPool
from seer_core.engine.lineup import Company, Lineup
from seer_core.engine.plan import ShapeKey
from seer_core.engine.planner import Planner
from seer_core.engine.row import ActiveRow, Row
from seer_core.engine.transcript import Decode
from seer_core.errors import EngineError, SeerError
from seer_core.models.decoder import Decoder
from seer_core.types import Delta, TokenRoles

__all__ = ["Engine", "Row"]


class Engine:
    """Runs up to `max_rows` rows, denoised as `loop` says where they do not.

    With `graphs` steps run in predefined shapes that are captured once and replayed; `prepare` captures the common
    ones. Without, every step is packed exactly and runs eagerly.
    """

    def __init__(
        self,
        decoder: Decoder,
        roles: TokenRoles,
        decode: Decode,
        config: EngineConfig,
        *,
        loop: LoopFacts,
        graphs: GraphBackend | None = None,
    ) -> None:
        self._roles = roles
        self._config = config
        self._prompt_cached = loop.prefix_lm or loop.cache_after_first_step
        self._waiting: list[Row] = []
        self._rows: list[ActiveRow] = []
        weight = decoder.embedding.weight
        footprint = Footprint.of(decoder.config, weight.element_size())
        places = min(config.key_memory_bytes // footprint.key_bytes, config.max_rows * decoder.config.max_positions)
        pool = KeyPool(decoder.config, places, weight)
        self._forward = forward_over(decoder, pool, graphs, graph_bytes=config.graph_memory_bytes)
        planner = Planner(config, footprint)
        self._intake = Intake(self._forward, planner, roles, decode, config, loop)
        self._lineup = Lineup(planner, roles=roles, device=weight.device, predefined=graphs is not None)

    @property
    def ready(self) -> bool:
        """Whether every shape that is captured beforehand has been."""
        return self._forward.graphs is None or self._forward.graphs.ready

    def prepare(self) -> None:
        """Capture the shapes of the core grid, largest first; nothing to do without graphs."""
        if self._forward.graphs is not None:
            self._forward.graphs.prepare(self._config.core_shapes(prompt_cached=self._prompt_cached))

    @property
    def graphs(self) -> GraphPool[ShapeKey, StepInputs] | None:
        """The graphs, to be counted; None where steps run eagerly."""
        return self._forward.graphs

    @property
    def key_places(self) -> tuple[int, int]:
        """Places for keys that rows hold, and all there are."""
        pool = self._forward.pool
        return pool.places - pool.free_places, pool.places

    @property
    def free_rows(self) -> int:
        return self._config.max_rows - len(self._waiting) - len(self._rows)

    @property
    def idle(self) -> bool:
        return not self._waiting and not self._rows

    def admit(self, rows: Sequence[Row]) -> None:
        """Rows that join at the next step. Raises `EngineError`, and admits none, where one has no room or runs."""
        if len(rows) > self.free_rows:
            raise EngineError(f"{len(rows)} rows for {self.free_rows} free places")
        ids = [row.id for row in (*self._waiting, *(active.row for active in self._rows), *rows)]
        if len(set(ids)) < len(ids):
            raise EngineError("a row of this id is already running")
        self._waiting += rows

    def step(self) -> list[Delta]:
        """One denoising step of every row; the text that became final, and how rows ended."""
        deltas = self._join()
        if self._rows:
            self._denoise()
            deltas += [delta for row in self._rows if (delta := self._settle(row)) is not None]
            self._leave({delta.id for delta in deltas if delta.last})
        return deltas

    def cancel(self, ids: Collection[str]) -> None:
        """Forget rows, waiting or running; unknown ids are no error."""
        self._waiting = [row for row in self._waiting if row.id not in ids]
        self._leave(ids)

    def _join(self) -> list[Delta]:
        """Start the rows that wait, in their order, as far as there is memory for them."""
        refused = []
        while self._waiting:
            row = self._waiting[0]
            try:
                active = self._intake.start(row)
                if active is None:
                    break
                self._rows.append(active)
            except Exception as error:
                refused.append(_failed(row.id, error))
            self._waiting.pop(0)
        return refused

    def _denoise(self) -> None:
        """One step of every row that has masks left."""
        rows = tuple(row for row in self._rows if not row.canvas.complete)
        batches: list[Batch] = []
        if not rows:
            return
        if not self._succeeds(rows, lambda: batches.extend(self._lineup.batches(rows))):
            self._run_halves(rows)
        for batch in batches:
            self._run(batch.rows, batch)

    def _run(self, rows: Company, batch: Batch | None = None) -> None:
        """One step of a batch; where that fails, of its halves, so that memory suffices and a failure finds its row."""
        if not self._succeeds(rows, lambda: self._step(batch or self._lineup.alone(rows))):
            self._run_halves(rows)

    def _step(self, batch: Batch) -> None:
        denoise(self._forward, batch, mask_id=self._roles.mask_id)

    def _run_halves(self, rows: Company) -> None:
        middle = len(rows) // 2
        for half in (rows[:middle], rows[middle:]) if middle else ():
            for row in half:
                row.path = "eager"
            self._run(half)

    def _succeeds(self, rows: Company, work: Callable[[], None]) -> bool:
        """Whether `work` for `rows` does; if not, nothing of it is kept, and a row alone is told why.

        No error is on its way when this returns: its traceback would hold the memory that the next try needs.
        """
        try:
            work()
        except Exception as error:
            self._lineup.forget(rows)
            if len(rows) == 1:
                clear_frames(error.__traceback__)
                rows[0].error = error
            return False
        return True

    def _settle(self, row: ActiveRow) -> Delta | None:
        """What the step made final: text, the end, more room, or nothing."""
        try:
            if row.error is not None:
                raise row.error
            return self._report(row)
        except Exception as error:
            return _failed(row.row.id, error)

    def _report(self, row: ActiveRow) -> Delta | None:
        canvas, transcript = row.canvas, row.transcript
        if not row.moved and not canvas.complete:
            return None
        row.moved = False
        room = min(self._config.bucket_after(len(canvas)), row.row.sampling.max_tokens) - len(canvas)
        closed = row.progress.done or (canvas.complete and room == 0)
        text = transcript.update(canvas.answer, final=closed)
        closed = closed or transcript.stopped
        if closed and (canvas.complete or row.row.decoding.early_exit):
            return Delta(id=row.row.id, text=text, outcome=row.outcome())
        if canvas.complete:
            row.regrow(min(room, row.block_length))
        return Delta(id=row.row.id, text=text) if text else None

    def _leave(self, ids: Collection[str]) -> None:
        leaving = [row for row in self._rows if row.row.id in ids]
        if leaving:
            self._rows = [row for row in self._rows if row.row.id not in ids]
            self._lineup.forget(leaving)
            for row in leaving:
                self._intake.end(row)


def _failed(row_id: str, error: Exception) -> Delta:
    return Delta(id=row_id, text="", error=error if isinstance(error, SeerError) else _told(error))


def _told(cause: Exception) -> EngineError:
    message = f"the row failed: {type(cause).__name__}: {cause}"
    if isinstance(cause, torch.OutOfMemoryError):
        message = "the device has not enough memory left for this request"
    error = EngineError(message)
    error.__cause__ = cause
    return error
