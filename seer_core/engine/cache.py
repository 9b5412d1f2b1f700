"""Which positions a step computes again, and which keep the keys and values they had.

The first step of a block computes everything there is to compute, whatever the policy. Positions are absolute: the
canvas follows the prompt. A policy is `exact` or named after the approximation it is: the keys it keeps were computed
when more of the canvas was still masked.

Source: Fast-dLLM (repository NVlabs/Fast-dLLM) for both approximations.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

CachePolicy = Callable[[range, range], range]
"""(all positions that may be computed, those of the current block) -> those computed in a later step of the block."""


def exact(whole: range, block: range) -> range:  # noqa: ARG001 - the policies' common interface
    """Everything that may change: the canvas, and the prompt where it may attend to the canvas."""
    return whole


def fastdllm_prefix(whole: range, block: range) -> range:
    """The block and all behind it; the prompt and the blocks before keep what they had."""
    return range(max(whole.start, block.start), whole.stop)


def fastdllm_dual(whole: range, block: range) -> range:
    """The block alone."""
    return range(max(whole.start, block.start), block.stop)


CACHES: Mapping[str, CachePolicy] = MappingProxyType(
    {"exact": exact, "fastdllm_prefix": fastdllm_prefix, "fastdllm_dual": fastdllm_dual}
)
