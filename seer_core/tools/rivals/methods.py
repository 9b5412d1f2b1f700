"""The methods that are compared: the fixed canvas, its rivals, Seer and every detector in its place.

What is done for rivals beyond their papers: all rows leave as soon as their answer is complete (only `fixed`, the
baseline, does not), Fast-dLLM's blocks included, and both kinds of end token end an answer.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from types import MappingProxyType
from typing import Literal

from seer_core.errors import ConfigError
from seer_core.types import Decoding

BASELINE = "fixed"
SEER = "seer"
ORACLE = "oracle"

BLOCK_TOKENS = 32
"""The block of the rivals that have one, as in Fast-dLLM and block early stop."""

DAEDAL_STARTS: Mapping[str, int] = MappingProxyType({"daedal": 64, "daedal_16": 16})
"""The canvas it begins with, by method: its authors', and that of the comparison in Seer's paper."""

Sight = Literal["detector", "oracle", "free_oracle"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Method:
    """How one contender answers: `decoding` in the engine, or DAEDAL's loop from a canvas of `daedal_from` tokens.

    Where it `sees` as an oracle it is told the untruncated run's end, after paying for the default detector's probe, or
    for nothing.
    """

    name: str
    about: str
    decoding: Decoding
    sees: Sight = "detector"
    daedal_from: int | None = None

    @property
    def plain(self) -> bool:
        """Whether all it does is to truncate, so that its answer depends on the length it foresees alone."""
        return self.daedal_from is None and replace(self.decoding, detector=None) == Decoding()


_WHOLE = Decoding(truncate=False)
_FAST = Decoding(commit="threshold", commit_threshold=0.9, block_length=BLOCK_TOKENS)
_DUAL = replace(_FAST, cache="fastdllm_dual")


def _methods() -> list[Method]:
    detectors = ("paper", "readout", "smartcrop", "first_end", "dual")
    return [
        Method(
            name=BASELINE,
            about="whole canvas, one token a step, prompt cached, to the last position",
            decoding=replace(_WHOLE, early_exit=False),
        ),
        Method(
            name="early_stop",
            about=f"blocks of {BLOCK_TOKENS}, left as soon as the answer is complete",
            decoding=replace(_WHOLE, block_length=BLOCK_TOKENS),
        ),
        *(
            Method(name=name, about=f"DAEDAL from {start} tokens, growing by 8", decoding=_WHOLE, daedal_from=start)
            for name, start in DAEDAL_STARTS.items()
        ),
        Method(
            name="fastdllm_prefix",
            about=f"Fast-dLLM prefix cache, threshold 0.9, blocks of {BLOCK_TOKENS}",
            decoding=replace(_FAST, cache="fastdllm_prefix", truncate=False),
        ),
        Method(
            name="fastdllm_dual",
            about=f"Fast-dLLM dual cache, threshold 0.9, blocks of {BLOCK_TOKENS}",
            decoding=replace(_DUAL, truncate=False),
        ),
        Method(name=SEER, about="the profile's default detector, one token a step", decoding=Decoding()),
        Method(
            name="seer_threshold",
            about="the default detector, exact cache, threshold 0.9",
            decoding=Decoding(commit="threshold", commit_threshold=0.9),
        ),
        Method(name="seer_fastdllm_dual", about="the default detector before fastdllm_dual", decoding=_DUAL),
        *(
            Method(name=name, about=f"the detector {name}, one token a step", decoding=Decoding(detector=name))
            for name in detectors
        ),
        Method(name=ORACLE, about="told the true end, pays for the default probe", decoding=Decoding(), sees="oracle"),
        Method(name="oracle_free", about="told the true end, pays nothing", decoding=Decoding(), sees="free_oracle"),
    ]


METHODS: Mapping[str, Method] = MappingProxyType({method.name: method for method in _methods()})


def methods_named(names: Collection[str]) -> list[Method]:
    """The methods of these names in the table's order, always with the baseline, which tells where answers end.

    Raises `ConfigError` for an unknown name.
    """
    for name in names:
        if name not in METHODS:
            near = get_close_matches(name, METHODS, n=1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            raise ConfigError(f"unknown method {name!r}, known are {', '.join(METHODS)}{hint}", field="methods")
    return [method for name, method in METHODS.items() if name in names or name == BASELINE]
