"""Buckets: ranges of canvas lengths that may run together. A bucket is named by its upper end in tokens."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence


def bucket_of(tokens: int, bucket_tokens: Sequence[int]) -> int:
    """The smallest bucket that holds `tokens`; beyond the last one, the next multiple of the last."""
    index = bisect_left(bucket_tokens, tokens)
    if index < len(bucket_tokens):
        return bucket_tokens[index]
    widest = bucket_tokens[-1]
    return -(-tokens // widest) * widest
