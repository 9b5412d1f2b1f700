"""Which packed rows attend to which places of the pool. Knows no canvas and no layer.

Legend: R row slots, N places.
"""

from __future__ import annotations

from typing import NamedTuple

from torch import Tensor


class Segments(NamedTuple):
    """The queries and the keys of each slot; all tensors int64, on the device of what they describe.

    Packed rows outside `query_starts[0] : query_starts[R]` are padding: nobody's queries.
    """

    query_starts: Tensor
    """[R + 1], ascending; slot r asks with packed rows `query_starts[r] : query_starts[r + 1]`, perhaps none."""
    key_starts: Tensor
    """[R], in any order; slot r attends to places from here on."""
    key_lengths: Tensor
    """[R], at least 1."""
    max_queries: int
    """No slot has more queries."""
    max_keys: int
    """No slot has more keys."""
