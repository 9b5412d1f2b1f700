"""What a readout may read of a tapped tensor beside its magnitudes. All cost the same at run time: the layers up to it.

Legend: N_r canvas of a row, d units.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import MappingProxyType

import torch
from torch import Tensor

Features = list[Tensor]
Make = Callable[[Sequence[Tensor]], Features]

FLOOR = 0.1
"""Under this quantile of |a| a logarithm tells nothing but how near zero is to zero."""

TINY = 1e-12
SAMPLED = 200_000


def magnitudes_of(values: Sequence[Tensor]) -> Features:
    """|a|, [N_r, d]: what the shipped readout reads."""
    return [one.abs() for one in values]


def quiet(values: Sequence[Tensor], share: float) -> Features:
    """Whether |a| < eps, [N_r, d], as the paper counts it; eps leaves a share of all magnitudes below it."""
    eps = quantile(values, share)
    return [(one.abs() < eps).float() for one in values]


def logarithms(values: Sequence[Tensor]) -> Features:
    """log(|a| + floor), [N_r, d]."""
    floor = max(quantile(values, FLOOR), TINY)
    return [(one.abs() + floor).log() for one in values]


def with_position(values: Sequence[Tensor]) -> Features:
    """|a| and how far into the canvas the position lies, [N_r, d + 1]."""
    return [torch.cat((one.abs(), torch.arange(1.0, len(one) + 1)[:, None].log()), dim=1) for one in values]


def quantile(values: Sequence[Tensor], share: float) -> float:
    """Of |a| over all rows, from an even sample of them."""
    flat = torch.cat([one.abs().flatten() for one in values])
    sample = flat[:: max(1, len(flat) // SAMPLED)]
    return float(sample.kthvalue(max(1, round(share * len(sample)))).values)


FEATURES: Mapping[str, Make] = MappingProxyType(
    {
        "magnitude": magnitudes_of,
        "signed": list,
        "quiet_30": partial(quiet, share=0.3),
        "quiet_80": partial(quiet, share=0.8),
        "log": logarithms,
        "with_position": with_position,
    }
)
"""By name; each takes a tensor's signed values [N_r, d] of every row."""
