"""What an end-to-end benchmark runs: which methods, on which canvases, over how many rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from seer_core.errors import ConfigError
from seer_core.tools.rivals.methods import METHODS, Method, methods_named

QUALITY_ROWS: Mapping[int, int] = MappingProxyType({64: 1000})
"""Rows by canvas where the published table has more than `OTHER_QUALITY_ROWS`."""

OTHER_QUALITY_ROWS = 128


@dataclass(frozen=True, slots=True, kw_only=True)
class EndToEndSettings:
    """Quality on `quality_rows` rows a canvas (None: as published), speed on the first `speed_rows` of them.

    A quality cell is `part_rows` rows of one method; a speed cell is all methods once, for one canvas, batch and round.
    No `rounds` means quality alone. No canvas has more rows than there are `questions`; None: there are always enough.
    """

    canvases: tuple[int, ...] = (32, 64, 128, 256)
    batches: tuple[int, ...] = (1, 16)
    methods: tuple[str, ...] = field(default=tuple(METHODS))
    quality_rows: int | None = None
    speed_rows: int = 48
    rounds: int = 3
    part_rows: int = 64
    questions: int | None = None

    def __post_init__(self) -> None:
        for name in ("canvases", "batches"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
        object.__setattr__(self, "methods", tuple(method.name for method in methods_named(self.methods)))
        if self.rounds and self.speed_rows > min(map(self.rows, self.canvases)):
            raise ConfigError("speed is measured on rows whose quality is: speed_rows is too large", field="speed_rows")

    @property
    def chosen(self) -> list[Method]:
        return [METHODS[name] for name in self.methods]

    @property
    def most_rows(self) -> int:
        """Rows of the canvas that has most."""
        return max(map(self.rows, self.canvases))

    def upto(self, questions: int) -> EndToEndSettings:
        """The same where there are no more than so many questions. Raises `ConfigError` where there are none."""
        if questions < 1:
            raise ConfigError("there are no questions to ask", field="data")
        return replace(self, questions=questions, speed_rows=min(self.speed_rows, questions))

    def rows(self, canvas: int) -> int:
        """Quality rows at a canvas."""
        rows = self.quality_rows if self.quality_rows is not None else QUALITY_ROWS.get(canvas, OTHER_QUALITY_ROWS)
        return rows if self.questions is None else min(rows, self.questions)

    def parts(self, canvas: int) -> list[range]:
        """The rows of each quality cell of a method."""
        rows = self.rows(canvas)
        return [range(start, min(start + self.part_rows, rows)) for start in range(0, rows, self.part_rows)]
