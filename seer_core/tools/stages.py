"""What the tools need of a pipeline: its stages, each to be called on its own.

A tool hands in forecasts of its own making (the whole canvas, the oracle's) where a user would get the detector's.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol, TypeVar

from seer_core.probe.probe import Probe
from seer_core.prompt import EncodedPrompt
from seer_core.types import Forecast, GenerationRequest, Outcome

T = TypeVar("T")


class Stages(Protocol):
    """A pipeline taken apart. Results come in the order of the requests."""

    @property
    def probe(self) -> Probe: ...

    def encode(self, requests: Sequence[GenerationRequest]) -> list[EncodedPrompt]: ...

    def run(
        self, requests: Sequence[GenerationRequest], prompts: Sequence[EncodedPrompt], forecasts: Sequence[Forecast]
    ) -> list[Outcome]: ...


def end_slot(outcome: Outcome) -> int | None:
    """Slot of the first end token of a run without stop strings; None where the canvas was full before one came."""
    return len(outcome.tokens) if outcome.finish_reason == "stop" else None


def batches(items: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    """`items` in order, `size` at a time."""
    for start in range(0, len(items), size):
        yield items[start : start + size]
