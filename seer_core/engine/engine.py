"""Rows in, text out: one denoising step at a time for all rows that run.

Synchronous and used from one thread. Knows no clock, no queue and no family; who runs together is decided elsewhere.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from seer_core.engine.batch import Batch
from seer_core.engine.config import EngineConfig
from seer_core.engine.denoiser import denoise
from seer_core.engine.footprint import Footprint
from seer_core.engine.kv_cache import prefill
from seer_core.engine.lineup import Lineup
from seer_core.engine.plan import Lengths
from seer_core.engine.planner import Planner
from seer_core.engine.row import ActiveRow, Row
from seer_core.engine.transcript import Decode
from seer_core.errors import ContextLengthExceeded, EngineError, SeerError
from seer_core.models.decoder import Decoder
from seer_core.types import Delta, TokenRoles

__all__ = ["Engine", "Row"]


class Engine:
    """Runs up to `max_rows` rows. `prefix_lm`: the prompt attends only to itself, so it is computed once."""

    def __init__(
        self, decoder: Decoder, roles: TokenRoles, decode: Decode, config: EngineConfig, *, prefix_lm: bool = True
    ) -> None:
        self._decoder = decoder
        self._roles = roles
        self._decode = decode
        self._config = config
        self._prefix_lm = prefix_lm
        self._waiting: list[Row] = []
        self._rows: list[ActiveRow] = []
        footprint = Footprint.of(decoder.config, decoder.embedding.weight.element_size())
        self._planner = Planner(config, footprint, prefix_lm=prefix_lm)
        self._lineup = Lineup(self._planner, mask_id=roles.mask_id)

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
        refused = []
        for row in self._waiting:
            try:
                self._rows.append(self._start(row))
            except Exception as error:
                refused.append(_failed(row.id, error))
        self._waiting = []
        return refused

    def _start(self, row: Row) -> ActiveRow:
        positions = row.prompt.length_tokens + row.sampling.max_tokens
        if positions > self._decoder.config.max_positions:
            raise ContextLengthExceeded(
                f"prompt and canvas take {positions} positions of {self._decoder.config.max_positions}"
            )
        if not self._planner.fits(Lengths(row.prompt.length_tokens, row.sampling.max_tokens)):
            raise ContextLengthExceeded(f"prompt and canvas take more than {self._config.plan_budget_bytes} bytes")
        embeddings = row.prompt.embeddings.to(self._decoder.embedding.weight)
        active = ActiveRow(row, embeddings, roles=self._roles, decode=self._decode, config=self._config)
        if self._prefix_lm:
            active.past = prefill(self._decoder, embeddings)
        return active

    def _denoise(self) -> None:
        """One step, company by company; where that fails, row by row, so that one row's failure stays its own."""
        for company in self._lineup.companies(self._rows):
            try:
                denoise(self._decoder, self._lineup.batch(company))
            except Exception:
                self._lineup.forget(company)
                for row in company:
                    self._denoise_alone(row)

    def _denoise_alone(self, row: ActiveRow) -> None:
        row.path = "eager"
        try:
            denoise(self._decoder, Batch([row], mask_id=self._roles.mask_id))
        except Exception as error:
            row.error = error

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
        room = min(self._config.bucket_after(len(canvas)), row.row.sampling.max_tokens) - len(canvas)
        closed = canvas.ended or (canvas.complete and room == 0)
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


def _failed(row_id: str, error: Exception) -> Delta:
    if not isinstance(error, SeerError):
        cause, error = error, EngineError(f"the row failed: {type(error).__name__}: {error}")
        error.__cause__ = cause
    return Delta(id=row_id, text="", error=error)
