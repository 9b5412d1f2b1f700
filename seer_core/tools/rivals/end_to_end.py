"""The end-to-end benchmark: quality cells first, then rounds of speed, then one table of all cells there are."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from tqdm import tqdm

from seer_core.tools.evaluate import Sample
from seer_core.tools.rivals.cells import Cell, Cells
from seer_core.tools.rivals.methods import BASELINE, METHODS, SEER, Method
from seer_core.tools.rivals.quality import end_of, quality_cell, quality_name, quality_of, requests_of
from seer_core.tools.rivals.settings import EndToEndSettings
from seer_core.tools.rivals.speed import speed_cell, speed_name, speed_of
from seer_core.tools.rivals.track import Track

Row = dict[str, Any]

COLUMNS = (
    *("method", "canvas", "batch", "score", "exact_agreement", "boundary_mae_tokens", "over_truncation"),
    *("over_truncation_after_repair", "regrow_rate", "steps", "positions", "valid_tokens_per_s", "requests_per_s"),
    *("ratio_to_baseline", "ratio_to_oracle"),
)
"""What every row has, None where it was not measured; more follows."""


WARM_UP_TOKENS = 16
"""A track's first run, which is not measured, is one row on a canvas of so many tokens."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class EndToEnd:
    """One benchmark: its rows, what it runs and where finished cells lie. `track_of` makes a track of so many rows."""

    samples: Sequence[Sample]
    settings: EndToEndSettings
    cells: Cells
    track_of: Callable[[int], Track]

    def run(self, *, progress: bool = True) -> None:
        """Make every cell that is not there yet."""
        self._qualities(progress=progress)
        if self.settings.rounds:
            self._speeds(progress=progress)

    def rows(self) -> list[Row]:
        """The table of the cells there are."""
        places = [(canvas, batch) for canvas in self.settings.canvases for batch in self.settings.batches]
        found = [self._row(method.name, *place) for place in places for method in self.settings.chosen]
        return [row for row in found if row is not None]

    def missing(self) -> list[str]:
        """Names of the cells that are not there yet."""
        names = [quality_name(canvas, method.name, part) for canvas, part, method in self._quality_plan()]
        names += [speed_name(*plan) for plan in self._speed_plan()]
        return [name for name in names if self.cells.get(name) is None]

    def records(self, canvas: int, method: str) -> list[Row]:
        """The method's records, from the first row on as far as its cells go without a gap."""
        records: list[Row] = []
        for part in self.settings.parts(canvas):
            cell = self.cells.get(quality_name(canvas, method, part))
            if cell is None:
                break
            records += cell["rows"]
        return records

    def _qualities(self, *, progress: bool) -> None:
        track = None
        for canvas, part, method in tqdm(list(self._quality_plan()), "quality", unit="cell", disable=not progress):
            name = quality_name(canvas, method.name, part)
            if self.cells.get(name) is None:
                track = track or self.track_of(max(self.settings.batches))
                own = [self.samples[row] for row in part]
                known = [self._known(canvas, part, method, other) for other in (BASELINE, SEER)]
                self.cells.put(name, quality_cell(track, method, own, canvas, *known))

    def _speeds(self, *, progress: bool) -> None:
        tracks: dict[int, Track] = {}
        own, methods = self.samples[: self.settings.speed_rows], self.settings.chosen
        for rows, canvas, batch, turn in tqdm(list(self._speed_plan()), "speed", unit="cell", disable=not progress):
            name = speed_name(rows, canvas, batch, turn)
            if self._whole_speed(name) is None:
                if batch not in tracks:
                    tracks[batch] = self.track_of(batch)
                    tracks[batch].attempt(METHODS[BASELINE], requests_of(own[:1], WARM_UP_TOKENS), [None])
                self.cells.put(name, speed_cell(tracks[batch], methods, own, canvas, self._ends(canvas, len(own))))

    def _quality_plan(self) -> Iterator[tuple[int, range, Method]]:
        """The first part of every canvas, then the second, so that an unfinished table has some of everything."""
        parts = {canvas: self.settings.parts(canvas) for canvas in sorted(self.settings.canvases)}
        for index in range(max(map(len, parts.values()))):
            for canvas in (canvas for canvas, own in parts.items() if index < len(own)):
                for method in self.settings.chosen:  # the baseline is the first
                    yield canvas, parts[canvas][index], method

    def _speed_plan(self) -> Iterator[tuple[int, int, int, int]]:
        for turn in range(self.settings.rounds):
            for batch in sorted(self.settings.batches, reverse=True):
                for canvas in sorted(self.settings.canvases, reverse=True):
                    yield self.settings.speed_rows, canvas, batch, turn

    def _known(self, canvas: int, part: range, method: Method, other: str) -> Cell | None:
        """The other method's cell of the same rows, if this is not it."""
        return None if method.name == other else self.cells.get(quality_name(canvas, other, part))

    def _whole_speed(self, name: str) -> Cell | None:
        """The speed cell, if all methods are in it: those that were not in the same round cannot be compared."""
        cell = self.cells.get(name)
        return cell if cell is not None and all(method.name in cell for method in self.settings.chosen) else None

    def _ends(self, canvas: int, rows: int) -> list[int | None]:
        return [end_of(record) for record in self.records(canvas, BASELINE)[:rows]]

    def _row(self, method: str, canvas: int, batch: int) -> Row | None:
        records = self.records(canvas, method)
        whole = self.records(canvas, BASELINE)[: len(records)]
        asked = self.settings.speed_rows
        turns = [self._whole_speed(speed_name(asked, canvas, batch, turn)) for turn in range(self.settings.rounds)]
        timed = [cell for cell in turns if cell is not None]
        if not records and not timed:
            return None
        measured: Row = quality_of(records, whole, canvas) if records else {}
        measured |= speed_of(timed, method) if timed else {}
        row: Row = {"method": method, "canvas": canvas, "batch": batch}
        return {**row, **{name: measured.get(name) for name in COLUMNS if name not in row}, **measured}
