"""A scenario: phases of arrivals and the course of the worker count that they must cause. Knows no service."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from load_tests.errors import LoadTestError
from load_tests.options import Options

FOLDER = Path(__file__).parent / "scenarios"
MAX_ARRIVALS = 2000
MAX_SECONDS = 600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Phase:
    """`rate` is arrivals per second. `load` instead counts arrivals in the time that one request takes alone."""

    name: str
    seconds: float
    rate: float | None = None
    load: float | None = None

    def __post_init__(self) -> None:
        if (self.rate is None) == (self.load is None):
            raise LoadTestError(f"phase {self.name}: give either rate or load")
        if self.seconds <= 0 or (self.rate or self.load or 0) <= 0:
            raise LoadTestError(f"phase {self.name}: seconds, rate and load must be positive")


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """`workers` is the expected course of the worker count, each change once.

    `max_rate` bounds what `load` may ask for, in arrivals per second. After the last arrival, answers and workers have
    `settle_s` seconds to come to rest. Every request asks for `options`.
    """

    name: str
    phases: tuple[Phase, ...]
    workers: tuple[int, ...]
    max_rate: float
    settle_s: float
    options: Options

    def __post_init__(self) -> None:
        if not self.phases or not self.workers:
            raise LoadTestError(f"scenario {self.name}: phases and workers must not be empty")
        if self.seconds > MAX_SECONDS:
            raise LoadTestError(f"scenario {self.name}: {self.seconds:g} s is more than {MAX_SECONDS:g} s")

    @property
    def seconds(self) -> float:
        return sum(phase.seconds for phase in self.phases)

    def rates(self, solo_s: float) -> list[float]:
        """Arrivals per second by phase, for a service that takes `solo_s` for one request alone."""
        return [min(self.max_rate, phase.rate or (phase.load or 0.0) / solo_s) for phase in self.phases]


def load_scenario(name: str) -> Scenario:
    """The shipped scenario of that name, or the one in that YAML file. Raises LoadTestError naming what is wrong."""
    path = Path(name) if name.endswith(".yaml") else FOLDER / f"{name}.yaml"
    if not path.is_file():
        known = ", ".join(sorted(file.stem for file in FOLDER.glob("*.yaml")))
        raise LoadTestError(f"there is no scenario {name}; known: {known}")
    return parse_scenario(yaml.safe_load(path.read_text(encoding="utf-8")), path.stem)


def parse_scenario(document: Any, name: str) -> Scenario:
    """A scenario from plain data. Raises LoadTestError."""
    try:
        phases = tuple(Phase(**phase) for phase in document.pop("phases"))
        options = Options(**document.pop("options"))
        return Scenario(name=name, phases=phases, workers=tuple(document.pop("workers")), options=options, **document)
    except (AttributeError, KeyError, TypeError) as error:
        raise LoadTestError(f"scenario {name} cannot be read: {error}") from error
