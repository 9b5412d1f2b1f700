"""The response being denoised: its tokens, the block in turn, and where it may grow.

Slots are zero-based and counted from the first response position. Knows no model.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence

from seer_core.config import StopRule
from seer_core.engine.pace import Pace
from seer_core.types import TokenRoles

Paces = Callable[[int, int], Pace]
"""(length of a block, masks in it) -> its pace."""


class Canvas:
    """Starts as masks, is filled block by block, and never changes a committed token.

    `stop` says when it counts as complete before that; see `LoopFacts`.
    """

    def __init__(
        self, length: int, *, roles: TokenRoles, block_length: int, paces: Paces, stop: StopRule = "none"
    ) -> None:
        self._roles = roles
        self._paces = paces
        self._stop = stop
        self._pending: deque[range] = deque()
        self._steps = 0
        self._pace: Pace = lambda step, left: left  # noqa: ARG005 - until a block opens
        self.tokens: list[int] = []
        self.holes: list[int] = []  # masked slots of the current block, ascending
        self.block = range(0)  # slots of the current block
        for start in range(0, length, block_length):
            self.extend(min(block_length, length - start))

    def __len__(self) -> int:
        return len(self.tokens)

    @property
    def due(self) -> int:
        """How many holes this step commits at least."""
        return min(self._pace(self._steps, len(self.holes)), len(self.holes))

    @property
    def fresh(self) -> bool:
        """Whether no step of the current block has been made yet."""
        return self._steps == 0

    @property
    def complete(self) -> bool:
        """Whether no mask is left."""
        return not self.holes

    @property
    def settled(self) -> list[int]:
        """The committed tokens in front of the first mask."""
        masked = self._roles.mask_id
        return self.tokens[: self.tokens.index(masked)] if masked in self.tokens else list(self.tokens)

    @property
    def ended(self) -> bool:
        """Whether the answer is known in full: an end token with everything before it committed."""
        return not self._roles.end_ids.isdisjoint(self.settled)

    @property
    def answer(self) -> list[int]:
        """What is known of the answer without gaps: the settled tokens before the first end token."""
        settled = self.settled
        end = next((slot for slot, token in enumerate(settled) if token in self._roles.end_ids), len(settled))
        return settled[:end]

    def start_with(self, token: int) -> None:
        """Commit slot 0 before the first step."""
        self.tokens[0] = token
        self._open(self.block)

    def commit(self, slots: Sequence[int], tokens: Sequence[int]) -> None:
        """Fill holes of the current block; with its last one the next block opens."""
        for slot, token in zip(slots, tokens, strict=True):
            self.tokens[slot] = token
        self.holes = [slot for slot in self.holes if self.tokens[slot] == self._roles.mask_id]
        self._steps += 1
        if self._stop == "scan":
            self._stop_at_end()
        if not self.holes:
            self._open_next()

    def extend(self, length: int) -> None:
        """Append one block of `length` masks; what is committed stays."""
        start = len(self.tokens)
        self.tokens += [self._roles.mask_id] * length
        self._pending.append(range(start, start + length))
        if not self.holes:
            self._open_next()

    def _open_next(self) -> None:
        if self._stop == "block_end" and self.block and self.tokens[self.block[-1]] in self._roles.end_ids:
            self._pending.clear()
        if self._pending:
            self._open(self._pending.popleft())

    def _open(self, block: range) -> None:
        self.block = block
        self.holes = [slot for slot in block if self.tokens[slot] == self._roles.mask_id]
        self._steps = 0
        if self.holes:
            self._pace = self._paces(len(block), len(self.holes))
        else:
            self._open_next()

    def _stop_at_end(self) -> None:
        """Nothing behind an end token is committed any more."""
        end = next((slot for slot in self.block if self.tokens[slot] in self._roles.end_ids), None)
        if end is not None:
            self.holes = [slot for slot in self.holes if slot < end]
            self._pending.clear()
