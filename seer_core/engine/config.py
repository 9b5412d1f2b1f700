"""The settings of an engine; right from birth, never changed. Knows no torch, so that any process may hold it."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from types import MappingProxyType

from seer_core.engine.plan import ShapeKey
from seer_core.errors import ConfigError

# With four steps an octave a bucket is at most a quarter above the one before, so less than a fifth is padding.
BUCKET_TOKENS = (
    *(8, 16, 24, 32, 48, 64, 96, 128),
    *(160, 192, 224, 256, 320, 384, 448, 512),
    *(640, 768, 896, 1024, 1280, 1536, 1792, 2048, 2560, 3072, 3584, 4096),
)
KEPT_TOKENS = (64, 256, 1024, 4096)
ROW_SLOTS = (1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20, 24, 28, 32, 40, 48, 56, 64)
_LEAST = MappingProxyType(
    {
        "max_rows": 1,
        "straggler_rows": 0,
        "short_tokens": 0,
        "launch_tokens": 0,
        "eager_tokens": 0,
        "plan_budget_bytes": 1,
        "key_memory_bytes": 1,
        "graph_memory_bytes": 0,
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineConfig:
    """How many rows run together, where canvases grow to, and how a step is planned.

    `bucket_tokens` are the lengths a canvas grows towards (beyond the last one its multiples follow) and the lengths
    rows are padded to.

    `tau_pad` is the padding waste from which on rows are packed. `row_slots` are the batch sizes a shape may have,
    `kept_tokens` the keys it may have room for beside those computed; few, as attention reads only those there are.
    Groups of at most `straggler_rows` rows, or of rows of at most `short_tokens`, run eagerly. One forward more costs
    as much as `launch_tokens` positions, one without a captured shape as much as `eager_tokens` more.
    `plan_budget_bytes` is what one plan may take in activations, keys and values.

    `key_memory_bytes` bounds the keys and values of all rows that run; a row reserves what it can grow to and waits
    where that is taken. `graph_memory_bytes` bounds captured graphs. `core_rows` and `core_tokens` are the shapes
    captured before the engine is ready: so many rows, each padded to so many tokens, behind `core_prompt_tokens`.
    """

    max_rows: int = 16
    bucket_tokens: tuple[int, ...] = BUCKET_TOKENS
    tau_pad: float = 0.2
    row_slots: tuple[int, ...] = ROW_SLOTS
    kept_tokens: tuple[int, ...] = KEPT_TOKENS
    straggler_rows: int = 1
    short_tokens: int = 4
    launch_tokens: int = 32
    eager_tokens: int = 256
    plan_budget_bytes: int = 16 * 2**30
    key_memory_bytes: int = 16 * 2**30
    graph_memory_bytes: int = 4 * 2**30
    core_rows: tuple[int, ...] = (2, 4, 8, 16)
    core_tokens: tuple[int, ...] = (8, 16, 32, 64)
    core_prompt_tokens: int = 1024

    def __post_init__(self) -> None:
        for name, least in _LEAST.items():
            if getattr(self, name) < least:
                raise ConfigError(f"{name} must be at least {least}, not {getattr(self, name)}", field=name)
        for name in ("bucket_tokens", "row_slots", "kept_tokens"):
            ladder: tuple[int, ...] = getattr(self, name)
            if not ladder or ladder[0] < 1 or any(a >= b for a, b in pairwise(ladder)):
                raise ConfigError(f"{name} must be positive and ascending", field=name)
        if self.row_slots[0] != 1:
            raise ConfigError("row_slots must begin with 1, or a row alone has no shape", field="row_slots")
        if min(self.core_rows) < 1 or max(self.core_rows) > self.row_slots[-1]:
            raise ConfigError(
                f"core_rows must be from 1 to the last of row_slots, {self.row_slots[-1]}", field="core_rows"
            )
        if not 0 <= self.tau_pad < 1:
            raise ConfigError(f"tau_pad must be from 0 to below 1, not {self.tau_pad}", field="tau_pad")

    def bucket_after(self, tokens: int) -> int:
        """The smallest bucket longer than `tokens`."""
        index = bisect_right(self.bucket_tokens, tokens)
        if index < len(self.bucket_tokens):
            return self.bucket_tokens[index]
        widest = self.bucket_tokens[-1]
        return (tokens // widest + 1) * widest

    def bucket_of(self, tokens: int) -> int:
        """The smallest bucket that holds `tokens`; beyond the last one the buckets go on, doubled, then doubled again.

        So sums of lengths find a bucket that is as close as those of single rows.
        """
        return _rung(self.bucket_tokens, tokens)

    def slots_of(self, rows: int) -> int:
        """The smallest batch size that holds `rows`, which are at most the largest one."""
        return self.row_slots[bisect_left(self.row_slots, rows)]

    def padded_shape(self, rows: int, tokens: int, held: int) -> ShapeKey:
        """The predefined shape of `rows` rows padded to `tokens` positions, with up to `held` keys in front of each."""
        slots, canvas = self.slots_of(rows), self.bucket_of(tokens)
        return ShapeKey(slots, slots * canvas, canvas, canvas + (_rung(self.kept_tokens, held) if held else 0))

    def core_shapes(self, *, prompt_cached: bool) -> list[ShapeKey]:
        """The shapes captured before the engine is ready; a prompt that is not cached is computed with its canvas."""
        prompt = self.core_prompt_tokens
        computed, held = (0, prompt) if prompt_cached else (prompt, 0)
        shapes = (self.padded_shape(n, computed + tokens, held) for n in self.core_rows for tokens in self.core_tokens)
        return list(dict.fromkeys(shapes))


def _rung(ladder: Sequence[int], tokens: int) -> int:
    """The lowest rung that holds `tokens`; beyond the last one the ladder goes on, doubled, then doubled again."""
    scale = 1
    while -(-tokens // scale) > ladder[-1]:
        scale *= 2
    return ladder[bisect_left(ladder, -(-tokens // scale))] * scale
