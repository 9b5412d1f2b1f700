"""The settings of the grouping policy; right from birth, never changed."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from seer_core.errors import ConfigError


@dataclass(frozen=True, slots=True, kw_only=True)
class RouterConfig:
    """`bucket_tokens` are the upper ends of the buckets; canvases beyond the last fall into its multiples.

    A ticket that waited `starving_s` goes before every other. `step_s` is the fastest a denoising step has ever been:
    a budget that not even this could meet is refused at admission.
    """

    bucket_tokens: tuple[int, ...] = (8, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024)
    max_waiting: int = 256
    max_group_rows: int = 16
    starving_s: float = 2.0
    step_s: float = 0.0

    def __post_init__(self) -> None:
        if not self.bucket_tokens or self.bucket_tokens[0] < 1 or any(a >= b for a, b in pairwise(self.bucket_tokens)):
            raise ConfigError("bucket_tokens must be positive and ascending", field="bucket_tokens")
        for name, value in (("max_waiting", self.max_waiting), ("max_group_rows", self.max_group_rows)):
            if value < 1:
                raise ConfigError(f"{name} must be at least 1, not {value}", field=name)
        for name, seconds in (("starving_s", self.starving_s), ("step_s", self.step_s)):
            if seconds < 0:
                raise ConfigError(f"{name} must not be negative, as {seconds} is", field=name)
