"""What the replicas are made of: the processor, the probe and the engine of one checkpoint.

A `Parts` travels to the replicas as a value and loads nothing before it is asked; each replica asks for its one part.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from deployments.engine_thread import StepEngine
from seer_core.prompt import EncodedPrompt, Prompt
from seer_core.types import Decoding, Forecast, Message

Prepare = Callable[[Sequence[Message], int], Prompt]
"""Messages and canvas length to a prompt; raises RequestError."""


class Forecaster(Protocol):
    """What the Probe deployment needs of `seer_core.probe.Probe`."""

    def encode(self, prompt: Prompt) -> EncodedPrompt: ...

    def forecast(
        self, prompts: Sequence[EncodedPrompt], canvas_tokens: Sequence[int], decodings: Sequence[Decoding]
    ) -> list[Forecast]: ...


class Parts(Protocol):
    """Builds the one part a replica needs."""

    @property
    def model_name(self) -> str: ...

    @property
    def calibrated(self) -> bool:
        """Whether the probe's numbers were fitted to these weights."""

    def prepare(self) -> Prepare: ...

    def forecaster(self) -> Forecaster: ...

    def engine(self, max_rows: int) -> StepEngine: ...
