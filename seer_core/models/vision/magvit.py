"""The encoder of MAGVIT-v2: an image becomes codes, one bit a channel and no table to look them up in.

Legend: B images, C channels, H x W pixels, h x w codes, K bits a code. It has no decoder: nothing here draws.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn.functional import pad, scaled_dot_product_attention, silu

from seer_core.errors import WeightsError

NAMES: tuple[tuple[str, str], ...] = (
    (r"encoder\.(.+)", r"tower.\1"),
    (r"((?:decoder|quantize)\..+)", r"unused.\1"),
)
"""Where the tensors of a MAGVIT-v2 folder belong; its decoder and its constant tables are not needed."""

NORM_GROUPS = 32
NORM_EPS = 1e-6


@dataclass(frozen=True, slots=True, kw_only=True)
class MagvitSizes:
    """Sizes of an encoder: the first width, then width and number of blocks per level, and the bits of a code."""

    stem: int
    widths: tuple[int, ...]
    blocks: tuple[int, ...]
    bits: int

    @property
    def patch_px(self) -> int:
        """The side of the patch that becomes one code: every level but the last halves the image."""
        return 1 << len(self.widths) - 1


def read_sizes(shapes: Mapping[str, Sequence[int]]) -> MagvitSizes:
    """Sizes from the shapes of a checkpoint's tensors, by name: its config.json has none.

    Raises `WeightsError` where the tensors are not those of such an encoder.
    """
    found = (re.fullmatch(r"encoder\.down\.(\d+)\.block\.(\d+)\.conv2\.weight", name) for name in shapes)
    blocks = {(int(match[1]), int(match[2])): shapes[match[0]][0] for match in found if match}
    missing = [name for name in ("encoder.conv_in.weight", "encoder.quant_conv.weight") if name not in shapes]
    levels = range(1 + max((level for level, _ in blocks), default=-1))
    if missing or not levels or any((level, 0) not in blocks for level in levels):
        lacks = ", ".join(missing) or "encoder.down.N.block.N.conv2.weight of some level"
        raise WeightsError(f"the image tokenizer is no MAGVIT-v2 encoder: it lacks {lacks}")
    return MagvitSizes(
        stem=shapes["encoder.conv_in.weight"][0],
        widths=tuple(blocks[level, 0] for level in levels),
        blocks=tuple(sum(at == level for at, _ in blocks) for level in levels),
        bits=shapes["encoder.quant_conv.weight"][0],
    )


class MagvitEncoder(nn.Module):
    """[B, C, H, W] -> [B, K, h, w]. Parameters carry the checkpoint's names without their prefix `encoder`."""

    def __init__(self, sizes: MagvitSizes) -> None:
        super().__init__()
        self.sizes = sizes
        self.conv_in = nn.Conv2d(3, sizes.stem, 3, padding=1)
        widths = (sizes.stem, *sizes.widths)
        last = len(sizes.widths) - 1
        self.down = nn.ModuleList(
            _Level(widths[level], widths[level + 1], count, halves=level < last)
            for level, count in enumerate(sizes.blocks)
        )
        self.mid = _Middle(widths[-1])
        self.norm_out = _norm(widths[-1])
        self.conv_out = nn.Conv2d(widths[-1], sizes.bits, 3, padding=1)
        self.quant_conv = nn.Conv2d(sizes.bits, sizes.bits, 1)

    @property
    def dtype(self) -> torch.dtype:
        return self.conv_in.weight.dtype

    def forward(self, pixels: Tensor) -> Tensor:
        hidden = self.conv_in(pixels)
        for level in self.down:
            hidden = level(hidden)
        hidden = silu(self.norm_out(self.mid(hidden)))
        out: Tensor = self.quant_conv(self.conv_out(hidden))
        return out

    def codes(self, pixels: Tensor) -> Tensor:
        """[B, C, H, W] -> int64 [B, h * w], rows first."""
        return quantise(self(pixels)).flatten(1)


def quantise(features: Tensor) -> Tensor:
    """[B, K, h, w] -> int64 [B, h, w]: a bit is set where a channel is above zero, the first channel is the highest."""
    shifts = torch.arange(features.shape[1] - 1, -1, -1, device=features.device)
    return ((features > 0).long() << shifts[:, None, None]).sum(1)


class _ResidualBlock(nn.Module):
    def __init__(self, width: int, out: int) -> None:
        super().__init__()
        self.norm1 = _norm(width)
        self.conv1 = nn.Conv2d(width, out, 3, padding=1)
        self.norm2 = _norm(out)
        self.conv2 = nn.Conv2d(out, out, 3, padding=1)
        self.nin_shortcut = nn.Conv2d(width, out, 1) if width != out else None

    def forward(self, hidden: Tensor) -> Tensor:
        inner = self.conv1(silu(self.norm1(hidden)))
        inner = self.conv2(silu(self.norm2(inner)))
        out: Tensor = inner + (hidden if self.nin_shortcut is None else self.nin_shortcut(hidden))
        return out


class _AttentionBlock(nn.Module):
    """One head over all places of the map."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.norm = _norm(width)
        self.q, self.k, self.v, self.proj_out = (nn.Conv2d(width, width, 1) for _ in range(4))

    def forward(self, hidden: Tensor) -> Tensor:
        normed = self.norm(hidden)
        query, key, value = (part(normed).flatten(2).transpose(1, 2) for part in (self.q, self.k, self.v))
        mixed = scaled_dot_product_attention(query, key, value)  # [B, h * w, C]
        out: Tensor = hidden + self.proj_out(mixed.transpose(1, 2).unflatten(2, hidden.shape[2:]))
        return out


class _Halving(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.conv = nn.Conv2d(width, width, 3, stride=2)

    def forward(self, hidden: Tensor) -> Tensor:
        out: Tensor = self.conv(pad(hidden, (0, 1, 0, 1)))  # right and bottom alone
        return out


class _Level(nn.Module):
    def __init__(self, width: int, out: int, count: int, *, halves: bool) -> None:
        super().__init__()
        self.block = nn.ModuleList(_ResidualBlock(width if index == 0 else out, out) for index in range(count))
        self.downsample = _Halving(out) if halves else None

    def forward(self, hidden: Tensor) -> Tensor:
        for block in self.block:
            hidden = block(hidden)
        return hidden if self.downsample is None else self.downsample(hidden)


class _Middle(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.block_1 = _ResidualBlock(width, width)
        self.attn_1 = _AttentionBlock(width)
        self.block_2 = _ResidualBlock(width, width)

    def forward(self, hidden: Tensor) -> Tensor:
        out: Tensor = self.block_2(self.attn_1(self.block_1(hidden)))
        return out


def _norm(width: int) -> nn.GroupNorm:
    return nn.GroupNorm(NORM_GROUPS, width, eps=NORM_EPS)
