"""Rotary position embedding, rotate-half form, angles in float32.

Legend: B rows, S positions, H heads, d head width.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor


class Rotation(NamedTuple):
    """Cosines and sines of a set of positions, float32 [B, 1, S, d]."""

    cos: Tensor
    sin: Tensor


def rotation(positions: Tensor, head_size: int, theta: float) -> Rotation:
    """The rotation for `positions` int64 [B, S]; frequency j is `theta ** (-2j / d)`."""
    exponents = torch.arange(0, head_size, 2, device=positions.device, dtype=torch.float32) / head_size
    angles = positions[:, :, None].float() * (1.0 / theta**exponents)  # [B, S, d/2]
    angles = torch.cat((angles, angles), dim=-1)[:, None]  # [B, 1, S, d]
    return Rotation(angles.cos(), angles.sin())


def rotate(x: Tensor, by: Rotation) -> Tensor:
    """Rotate queries or keys [B, H, S, d]; computed in float32, returned in the dtype of `x`."""
    wide = x.float()
    half = wide.shape[-1] // 2
    turned = wide * by.cos
    turned[..., :half].addcmul_(wide[..., half:], by.sin[..., :half], value=-1)
    turned[..., half:].addcmul_(wide[..., :half], by.sin[..., half:])
    return turned.to(x.dtype)
