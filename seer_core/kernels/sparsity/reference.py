"""The definition of the statistic, in plain torch. Knows nothing of layers, canvases or boundaries.

Legend: d units of the tapped tensor.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import silu


def sparsity(activations: Tensor, eps: float) -> Tensor:
    """`s = #{k : |a_k| < eps} / d` over the last axis: any float dtype [..., d] -> float64 [...].

    Compared in float32, so that a half-precision tensor does not round `eps`; divided in float64, so that the quotient
    of the two counts is the same on every device. A NaN counts as not near zero.
    """
    near_zero = activations.float().abs() < eps
    return near_zero.sum(-1, dtype=torch.int64).double() / activations.shape[-1]


def gated_sparsity(gate: Tensor, up: Tensor, eps: float) -> Tensor:
    """`sparsity` of `silu(gate) * up`: pre-activations [..., d] of one shape and dtype -> float64 [...].

    Both operations round to the tensors' dtype, as they do in the MLP whose product this is.
    """
    return sparsity(silu(gate) * up, eps)
