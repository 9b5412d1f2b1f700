"""Rotary positions by time, height and width (M-RoPE) of a prompt in which images lie as grids.

Legend: n ids, P prompt positions once images are expanded.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import torch
from torch import Tensor


def grid_positions(ids: Iterable[int], grids: Sequence[tuple[int, int]], placeholder_id: int) -> Tensor:
    """int64 [3, P]: rows time, height, width.

    Text counts on in all three rows. An image of `grids` (columns, rows of tokens) stands at one time, its tokens at
    their row and column from there; what follows it starts behind its longer side.
    """
    left = iter(grids)
    parts: list[Tensor] = []
    at = 0
    for token in ids:
        if token == placeholder_id:
            columns, rows = next(left)
            parts.append(_grid(columns, rows) + at)
            at += max(columns, rows)
        else:
            parts.append(torch.full((3, 1), at))
            at += 1
    return torch.cat(parts, dim=1)


def _grid(columns: int, rows: int) -> Tensor:
    row, column = torch.meshgrid(torch.arange(rows), torch.arange(columns), indexing="ij")
    return torch.stack((torch.zeros_like(row), row, column)).flatten(1)  # [3, rows * columns]
