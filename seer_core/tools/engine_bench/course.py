"""One mix and batch size of the bench: what each mode does there, and how long it takes, in turns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from statistics import median
from time import perf_counter

from seer_core.config import LoopFacts
from seer_core.engine.batch import Batch
from seer_core.engine.config import EngineConfig
from seer_core.engine.planner import Planner
from seer_core.engine.row import ActiveRow
from seer_core.models.decoder import Decoder
from seer_core.tools.engine_bench.backends import backend_of
from seer_core.tools.engine_bench.meter import Meter, metered
from seer_core.tools.engine_bench.mixes import lengths
from seer_core.tools.engine_bench.modes import way_of
from seer_core.tools.engine_bench.rig import Rig
from seer_core.tools.engine_bench.settings import BenchSettings
from seer_core.types import Decoding, TokenRoles

BenchRow = dict[str, object]
MIN_STEPS = 16
"""Short runs are repeated within their turn until they have taken so many steps together."""


@dataclass(slots=True)
class _Seen:
    """What one run of a mode did: positions of rows and computed, in predefined shapes too, and rows by path."""

    real: int = 0
    computed: int = 0
    in_shapes: int = 0
    paths: Counter[str] = field(default_factory=Counter)


class Course:
    """All modes on the `cell`, a mix and a batch size."""

    def __init__(
        self, decoder: Decoder, roles: TokenRoles, settings: BenchSettings, cell: tuple[str, int], *, loop: LoopFacts
    ) -> None:
        self._settings, (self._mix, self._batch) = settings, cell
        self._lengths = lengths(*cell)
        places = (sum(self._lengths) + self._batch * settings.prompt_tokens) * len(settings.modes)  # all run in turns
        config = EngineConfig(max_rows=self._batch)
        graphs = backend_of(settings.graphs, decoder.embedding.weight.device)
        self._rig = Rig(decoder, roles, loop=loop, places=places, graphs=graphs, config=config)
        self._ways = {mode: way_of(mode, self._rig) for mode in settings.modes}
        self._shapes = self._rig.lineup(Planner(config, self._rig.footprint), predefined=True)
        self._seen = {mode: _Seen() for mode in settings.modes}
        self._meters: dict[str, Meter] = {}
        self._seconds: dict[str, list[float]] = {mode: [] for mode in settings.modes}
        self._steps: dict[str, int] = {}
        self._hits: dict[str, int] = {}

    def rows(self, done: Callable[[int], object]) -> list[BenchRow]:
        """First a run of each mode that is looked at, which captures and warms up too; then the rounds."""
        self._capture_largest()
        for mode in self._settings.modes:
            self._look(mode)
            done(1)
        for _ in range(self._settings.rounds):
            self._round()
            done(len(self._settings.modes))
        return [self._row(mode) for mode in self._settings.modes]

    def _capture_largest(self) -> None:
        """A graph pool captures nothing before its largest shape has run."""
        if self._rig.forward.graphs is not None:
            settings, longest = self._settings, max(self._lengths)
            shape = self._rig.config.padded_shape(self._batch, longest + settings.prompt_tokens, settings.prompt_tokens)
            self._rig.forward.graphs.prepare([shape])

    def _look(self, mode: str) -> None:
        self._steps[mode] = self._rig.run(self._ways[mode], self._start(), self._see(mode))
        if self._settings.graphs != "none" or self._rig.device.type != "cpu":
            return  # clocks see no replay and no device
        meter = self._meters[mode] = Meter()
        for _ in range(self._repeats(mode)):
            rows = self._start()
            with metered(self._rig, self._ways[mode], meter) as clocked:
                self._rig.run(clocked, rows)

    def _round(self) -> None:
        """All modes side by side, a step of each in turn, so that they meet the same machine."""
        repeats = self._repeats(self._settings.modes[0])
        seconds, hits = dict.fromkeys(self._settings.modes, 0.0), dict.fromkeys(self._settings.modes, 0)
        for _ in range(repeats):
            courses = {mode: self._rig.steps(way, self._start()) for mode, way in self._ways.items()}
            while courses:
                for mode, steps in list(courses.items()):
                    before, start = self._hits_so_far, perf_counter()
                    if next(steps, self) is self:
                        del courses[mode]
                    self._rig.synchronize()
                    seconds[mode] += perf_counter() - start
                    hits[mode] += self._hits_so_far - before
        for mode in self._settings.modes:
            self._seconds[mode].append(seconds[mode] / repeats)
            self._hits[mode] = hits[mode] // repeats

    @property
    def _hits_so_far(self) -> int:
        graphs = self._rig.forward.graphs
        return 0 if graphs is None else graphs.hits

    def _repeats(self, mode: str) -> int:
        return -(-MIN_STEPS // self._steps[mode])

    def _start(self) -> list[ActiveRow]:
        return self._rig.start(self._lengths, self._settings.prompt_tokens, self._decoding)

    def _decoding(self, tokens: int) -> Decoding:
        """One block, so that every row takes as many steps."""
        return Decoding(steps_per_token=min(1.0, self._settings.steps / tokens), block_length=tokens)

    def _see(self, mode: str) -> Callable[[Sequence[ActiveRow], Sequence[Batch]], None]:
        seen = self._seen[mode]

        def see(rows: Sequence[ActiveRow], batches: Sequence[Batch]) -> None:
            shaped = self._shapes.batches(rows) if mode == "routed" else batches
            seen.real += sum(batch.positions[0] for batch in batches)
            seen.computed += sum(batch.positions[1] for batch in batches)
            seen.in_shapes += sum(batch.positions[1] for batch in shaped)
            seen.paths.update(row.path for row in rows)

        return see

    def _row(self, mode: str) -> BenchRow:
        seen, meter = self._seen[mode], self._meters.get(mode)
        seconds = median(self._seconds[mode])
        shares = {path: round(count / seen.paths.total(), 3) for path, count in sorted(seen.paths.items())}
        return {
            "mix": self._mix,
            "batch": self._batch,
            "mode": mode,
            "steps": self._steps[mode],
            "step_ms": round(1000 * seconds / self._steps[mode], 3),
            "rows_per_s": round(self._batch / seconds, 3),
            "ratio_to_naive": self._ratio_to_naive(mode),
            "padding_waste": round(1 - seen.real / seen.computed, 4),
            "shape_waste": round(1 - seen.real / seen.in_shapes, 4),
            "path_shares": {} if mode == "naive_padding" else shares,  # none of the three paths
            "graph_hits": None if self._rig.forward.graphs is None else self._hits[mode],
            "overhead_share": None if meter is None else round(meter.overhead_share, 4),
            "engine_share": None if meter is None else round(meter.engine_share, 4),
        }

    def _ratio_to_naive(self, mode: str) -> float | None:
        """The median over the rounds; neighbours in time are compared."""
        naive = self._seconds.get("naive_padding")
        if naive is None:
            return None
        return round(median(slow / own for slow, own in zip(naive, self._seconds[mode], strict=True)), 3)
