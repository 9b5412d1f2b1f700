"""The settings of an engine; right from birth, never changed. Knows no torch, so that any process may hold it."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from itertools import pairwise

from seer_core.errors import ConfigError


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineConfig:
    """How many rows run together, and where canvases grow to.

    `bucket_tokens` are the lengths a canvas grows towards; beyond the last one its multiples follow.
    `block_length` is the family's, for requests that name none.
    """

    max_rows: int = 16
    bucket_tokens: tuple[int, ...] = (8, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024)
    block_length: int = 128

    def __post_init__(self) -> None:
        for name, value in (("max_rows", self.max_rows), ("block_length", self.block_length)):
            if value < 1:
                raise ConfigError(f"{name} must be at least 1, not {value}", field=name)
        if not self.bucket_tokens or self.bucket_tokens[0] < 1 or any(a >= b for a, b in pairwise(self.bucket_tokens)):
            raise ConfigError("bucket_tokens must be positive and ascending", field="bucket_tokens")

    def bucket_after(self, tokens: int) -> int:
        """The smallest bucket longer than `tokens`."""
        index = bisect_right(self.bucket_tokens, tokens)
        if index < len(self.bucket_tokens):
            return self.bucket_tokens[index]
        widest = self.bucket_tokens[-1]
        return (tokens // widest + 1) * widest
