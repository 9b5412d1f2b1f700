"""What is measured. Knows no torch, so that reading the options of a command needs none."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from difflib import get_close_matches

from seer_core.engine.config import EngineConfig
from seer_core.errors import ConfigError
from seer_core.tools.engine_bench.mixes import MIXES

MODES = ("naive_padding", "static", "varlen", "eager", "routed")
GRAPHS = ("none", "recording", "cuda")


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchSettings:
    """Every mode on every mix and batch size, `rounds` times in turns.

    Each row has `prompt_tokens` random prompt positions and runs from its first to its last step. All take `steps` of
    them, or as many as they have tokens, so that the mix stays what it is from the first step to the last. Raises
    `ConfigError`.
    """

    mixes: Sequence[str] = tuple(MIXES)
    batches: Sequence[int] = (1, 16, 32)
    modes: Sequence[str] = MODES
    rounds: int = 3
    prompt_tokens: int = 60
    steps: int = 4
    graphs: str = "none"

    def __post_init__(self) -> None:
        for field, names, known in (
            ("mixes", self.mixes, MIXES),
            ("modes", self.modes, MODES),
            ("graphs", (self.graphs,), GRAPHS),
        ):
            for name in names:
                _check_name(field, name, known)
        most = EngineConfig().row_slots[-1]
        if not all(1 <= rows <= most for rows in self.batches):
            raise ConfigError(f"batches must be from 1 to {most} rows", field="batches")
        if self.steps < 1:
            raise ConfigError(f"steps must be at least 1, not {self.steps}", field="steps")

    @property
    def turns(self) -> int:
        """How often a mode runs on each mix and batch size: once to look, then in rounds."""
        return len(self.modes) * (self.rounds + 1)


def _check_name(field: str, name: str, known: Collection[str]) -> None:
    if name not in known:
        near = get_close_matches(name, known, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise ConfigError(f"unknown {field} {name!r}, known are {', '.join(known)}{hint}", field=field)
