"""Rotary position embedding, rotate-half form, angles in float32.

Legend: B rows, S positions, H heads, d head width.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor


class Rotation(NamedTuple):
    """Cosines and sines of a set of positions, [B, 1, S, d]; queries and keys are turned in their dtype."""

    cos: Tensor
    sin: Tensor


def rotation(
    positions: Tensor,
    head_size: int,
    theta: float,
    *,
    sections: Sequence[int] = (),
    dtype: torch.dtype = torch.float32,
) -> Rotation:
    """The rotation for `positions` int64 [B, S]; frequency j is `theta ** (-2j / d)`.

    Positions [3, B, S] (time, height, width) need `sections`, three counts of frequencies that sum to d / 2: the first
    turn by time, the next by height, the last by width.
    """
    exponents = torch.arange(0, head_size, 2, device=positions.device, dtype=torch.float32) / head_size
    angles = positions[..., None].float() * (1.0 / theta**exponents)  # [..., B, S, d/2]
    if positions.ndim == 3:
        parts = angles.split(list(sections), dim=-1)
        angles = torch.cat([part[axis] for axis, part in enumerate(parts)], dim=-1)  # [B, S, d/2]
    angles = torch.cat((angles, angles), dim=-1)[:, None]  # [B, 1, S, d]
    return Rotation(angles.cos().to(dtype), angles.sin().to(dtype))


def rotate(x: Tensor, by: Rotation) -> Tensor:
    """Rotate queries or keys [B, H, S, d]; computed in the rotation's dtype, returned in the dtype of `x`."""
    wide = x.to(by.cos.dtype)
    half = wide.shape[-1] // 2
    turned = wide * by.cos
    turned[..., :half].sub_(wide[..., half:] * by.sin[..., :half])
    turned[..., half:].add_(wide[..., :half] * by.sin[..., half:])
    return turned.to(x.dtype)
