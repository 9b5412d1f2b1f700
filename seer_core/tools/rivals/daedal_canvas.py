"""DAEDAL's canvas: it starts short, grows until its tail is sure to be fill, and gains masks where the model is unsure.

Source: Li et al., "Beyond Fixed: Training-Free Variable-Length Denoising for Diffusion Large Language Models", arXiv
2508.00819, and what its released code does where the text leaves it open. Two liberties, both in its favour: every end
token counts as one, and a row ends once its answer is complete. Knows no model: a step is told what each slot proposes.

Legend: L slots of one row's canvas.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from seer_core.types import TokenRoles


@dataclass(frozen=True, slots=True, kw_only=True)
class DaedalSettings:
    """The published numbers.

    The tail is the last `window_tokens` slots whose likeliest token ends the answer; their end probabilities, summed
    and divided by the window, must reach `enough` before the denoising begins and stay at `settled` later, or masks are
    inserted. A proposal surer than `sure` is committed, a hole less sure than `unsure` is one to insert at.
    """

    start_tokens: int = 64
    growth_tokens: int = 8
    block_tokens: int = 32
    window_tokens: int = 32
    enough: float = 0.5
    settled: float = 0.9
    sure: float = 0.9
    unsure: float = 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What one forward says of every slot, each [L]: its proposal, how sure that is, P(end), and whether an end token
    is the likeliest."""

    tokens: Sequence[int]
    confidence: Sequence[float]
    end_probability: Sequence[float]
    end_likeliest: Sequence[bool]


class DaedalCanvas:
    """One row's tokens, never more than `limit` of them. `started_tokens` are the masks with which denoising began."""

    def __init__(self, limit: int, *, roles: TokenRoles, settings: DaedalSettings) -> None:
        self._limit, self._roles, self._settings = limit, roles, settings
        self._block = 0  # first slot of the current block
        self.tokens = [roles.mask_id] * min(settings.start_tokens, limit)
        self.started_tokens: int | None = None
        self.steps = 0
        self.insertions = 0

    @property
    def complete(self) -> bool:
        """Whether the answer is known in full, or nothing is masked any more."""
        if self.started_tokens is None:
            return False
        settled = self._settled()
        return len(settled) == len(self.tokens) or not self._roles.end_ids.isdisjoint(settled)

    @property
    def ended(self) -> bool:
        """Whether an end token follows the answer."""
        return not self._roles.end_ids.isdisjoint(self._settled())

    @property
    def answer(self) -> list[int]:
        """The settled tokens before the first end token."""
        settled = self._settled()
        return settled[: next((i for i, token in enumerate(settled) if token in self._roles.end_ids), len(settled))]

    def step(self, seen: Seen) -> None:
        """Take in one forward over the canvas as it is."""
        self.steps += 1
        if self.started_tokens is None:
            self._adjust(seen)
        else:
            self._denoise(seen)

    def _adjust(self, seen: Seen) -> None:
        """Stage 1: longer, or long enough; then half a window of fill is put behind the masks."""
        length, settings = len(self.tokens), self._settings
        if self._tail(seen) < settings.enough and length < self._limit:
            self.tokens += [self._roles.mask_id] * min(settings.growth_tokens, self._limit - length)
            return
        fill = min(settings.window_tokens // 2, self._limit - length)
        self.tokens += [self._roles.fill_id] * fill
        self.started_tokens = length

    def _denoise(self, seen: Seen) -> None:
        """Stage 2: commit what is sure, or the surest; insert at the least sure hole while the tail is not settled."""
        holes = self._holes()
        chosen = [slot for slot in holes if seen.confidence[slot] > self._settings.sure]
        chosen = chosen or [max(holes, key=lambda slot: seen.confidence[slot])]
        for slot in chosen:
            self.tokens[slot] = seen.tokens[slot]
        left = [slot for slot in holes if slot not in chosen and seen.confidence[slot] < self._settings.unsure]
        if left and len(self.tokens) < self._limit and self._tail(seen) < self._settings.settled:
            self._insert(min(left, key=lambda slot: seen.confidence[slot]))
        while self._block < len(self.tokens) and not self._holes():
            self._block += self._settings.block_tokens

    def _insert(self, slot: int) -> None:
        """One mask becomes `growth_tokens`; what would lie beyond the limit is lost."""
        masks = [self._roles.mask_id] * self._settings.growth_tokens
        self.tokens = (self.tokens[:slot] + masks + self.tokens[slot + 1 :])[: self._limit]
        self.insertions += 1

    def _tail(self, seen: Seen) -> float:
        """How sure the tail is to be fill, from 0 to 1."""
        window = self._settings.window_tokens
        ends = [p for p, likeliest in zip(seen.end_probability, seen.end_likeliest, strict=True) if likeliest]
        return sum(ends[-window:]) / window

    def _holes(self) -> list[int]:
        block = range(self._block, min(self._block + self._settings.block_tokens, len(self.tokens)))
        return [slot for slot in block if self.tokens[slot] == self._roles.mask_id]

    def _settled(self) -> list[int]:
        masked = self._roles.mask_id
        return self.tokens[: self.tokens.index(masked)] if masked in self.tokens else list(self.tokens)
