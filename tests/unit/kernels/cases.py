"""What kernels are shown: awkward sizes, awkward numbers, and memory that poisons whoever leaves its bounds.

`tests/gpu` shows the same cases to the compiled kernels.
"""

from __future__ import annotations

import torch
from torch import Tensor

from seer_core.kernels.confidence import Confidence
from seer_core.kernels.confidence.measure import MEASURES, Measure

ALL_MEASURES: tuple[Measure, ...] = tuple(MEASURES)
DTYPES = (torch.float32, torch.bfloat16, torch.float16)
VOCABULARIES = ((1, 2), (5, 63), (3, 1000), (3, 4096), (2, 4097), (2, 126464))
"""(rows, vocabulary): below, at and beyond the size of a chunk."""
UNITS = ((1, 1), (7, 63), (3, 1000), (2, 2048), (2, 2049), (1, 12288), (1, 126464))
"""(positions, units)."""


def normal(*shape: int, seed: int = 0, scale: float = 3.0) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed)) * scale


def poisoned(values: Tensor) -> Tensor:
    """The same values, with NaN before, between and behind the last axes' rows."""
    *leading, rows, columns = values.shape
    field = values.new_full((*leading, rows + 2, columns + 5), torch.nan)
    view = field[..., 1:-1, 2:-3]
    view.copy_(values)
    return view


def assert_same(actual: Confidence, expected: Confidence) -> None:
    """Tokens exactly where there is one, confidences to float64's last digits."""
    torch.testing.assert_close(actual.values.cpu(), expected.values, rtol=1e-9, atol=1e-13, equal_nan=True)
    known = ~expected.values.isnan()
    assert torch.equal(actual.tokens.cpu()[known], expected.tokens[known])


def assert_same_shares(actual: Tensor, expected: Tensor, product: Tensor, eps: float) -> None:
    """Shares exactly, but for units whose product lies on eps to the last digits of an exponential."""
    assert actual.shape == expected.shape
    assert actual.dtype == torch.float64
    undecided = ((product.double().abs() - eps).abs() <= spacing(product.dtype) * eps).sum(-1)
    assert torch.all((actual.cpu() - expected).abs() * product.shape[-1] <= undecided + 1e-6)


def spacing(dtype: torch.dtype) -> float:
    """A few units in the last place, relative."""
    return 4 * torch.finfo(dtype).eps
