"""Where the time of steps goes: matrix products, attention, the rest of the model, and the engine around it.

Clocks stand around every linear layer and every call of attention, so what reading them costs falls on the rest. They
see a CPU's own time only: nothing inside a replayed graph, and of a device that runs behind its host nothing true.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from time import perf_counter

from torch import Tensor, nn
from torch.utils.hooks import RemovableHandle

from seer_core.engine.forward import Forward, StepInputs
from seer_core.engine.plan import ShapeKey
from seer_core.kernels.varlen_attention import Segments, varlen_attention_for
from seer_core.models.decoder import Decoder
from seer_core.tools.engine_bench.rig import Rig, Way

Clock = Callable[[], float]


@dataclass(slots=True)
class Meter:
    """Seconds. `model_s` is all of the decoder: embedding, forward, final norm and head."""

    product_s: float = 0.0
    attention_s: float = 0.0
    model_s: float = 0.0
    total_s: float = 0.0

    @property
    def overhead_share(self) -> float:
        """Share of the time that is neither a matrix product nor attention."""
        return 1 - (self.product_s + self.attention_s) / self.total_s

    @property
    def engine_share(self) -> float:
        """Share of the time outside the model."""
        return 1 - self.model_s / self.total_s

    def add_product(self, seconds: float) -> None:
        self.product_s += seconds

    def add_model(self, seconds: float) -> None:
        self.model_s += seconds


class MeteredForward(Forward):
    """The eager forward, with a clock around it and one around each attention."""

    def __init__(self, rig: Rig, meter: Meter, clock: Clock) -> None:
        self._meter, self._clock = meter, clock
        self._attend = varlen_attention_for(rig.device)
        Forward.__init__(self, rig.decoder, rig.forward.pool, self._attended)

    def __call__(self, shape: ShapeKey, inputs: StepInputs, *, captured: bool = False) -> Tensor:
        start = self._clock()
        hidden = Forward.__call__(self, shape, inputs, captured=captured)
        self._meter.model_s += self._clock() - start
        return hidden

    def _attended(self, query: Tensor, keys: Tensor, values: Tensor, segments: Segments) -> Tensor:
        start = self._clock()
        found = self._attend(query, keys, values, segments)
        self._meter.attention_s += self._clock() - start
        return found


@contextmanager
def metered(rig: Rig, way: Way, meter: Meter, clock: Clock = perf_counter) -> Iterator[Way]:
    """`way` without graphs and with clocks, which are gone afterwards; all that happens inside counts in the total."""
    hooks = [hook for layer in _linear(rig.decoder) for hook in _clocked(layer, meter.add_product, clock)]
    for part in (rig.decoder.embedding, rig.decoder.norm, rig.decoder.head):  # what a step calls beside the forward
        hooks += _clocked(part, meter.add_model, clock)
    start = clock()
    try:
        yield Way(lineup=way.lineup, forward=MeteredForward(rig, meter, clock))
    finally:
        meter.total_s += clock() - start
        for hook in hooks:
            hook.remove()


def _linear(decoder: Decoder) -> list[nn.Module]:
    return [module for module in decoder.modules() if isinstance(module, nn.Linear)]


def _clocked(module: nn.Module, add: Callable[[float], None], clock: Clock) -> tuple[RemovableHandle, RemovableHandle]:
    started: list[float] = []

    def before(*_: object) -> None:
        started.append(clock())

    def after(*_: object) -> None:
        add(clock() - started.pop())

    return module.register_forward_pre_hook(before), module.register_forward_hook(after)
