"""The tensors that a step reads, in the memory it reads them from. Knows not who fills them.

Legend: T packed positions, R row slots.
"""

from __future__ import annotations

from typing import NamedTuple

from torch import Tensor


class Packed(NamedTuple):
    """The inputs of a step and what the host wants to know of its rows; all contiguous."""

    ids: Tensor
    """int64 [T]: the canvas's token; the mask at prompt positions and padding."""
    positions: Tensor
    """int64 [T]: rotary; 0 at padding."""
    places: Tensor
    """int64 [T]: where in the pool its own keys go; at padding 0, which is nobody's."""
    query_starts: Tensor
    """int64 [R + 1]: where the positions of each slot begin in the pack, and where the last slot's end."""
    key_starts: Tensor
    """int64 [R]: where its extent begins; 0 for an empty slot."""
    key_lengths: Tensor
    """int64 [R]: how long that is; 1 for an empty slot."""
    control: Tensor
    """int32 [R, 2]: canvas slots before the first mask, and the first of those that ends the text, or -1."""
