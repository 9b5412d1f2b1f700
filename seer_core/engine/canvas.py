"""The response being denoised: its tokens, the block in turn, and where it may grow.

Slots are zero-based and counted from the first response position. Knows no tensors and no model.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence

from seer_core.types import TokenRoles

CommitCounts = Callable[[int], Sequence[int]]
"""Length of a block -> how many masks each of its steps commits at least; they sum to the length."""


class Canvas:
    """Starts as masks, is filled block by block, and never changes a committed token."""

    def __init__(self, length: int, *, roles: TokenRoles, block_length: int, commit_counts: CommitCounts) -> None:
        self._roles = roles
        self._commit_counts = commit_counts
        self._pending: deque[range] = deque()
        self._due: deque[int] = deque()
        self.tokens: list[int] = []
        self.holes: list[int] = []  # masked slots of the current block, ascending
        self.block = range(0)  # slots of the current block
        self.fresh = True  # whether no step of the current block has been committed yet
        for start in range(0, length, block_length):
            self.extend(min(block_length, length - start))

    def __len__(self) -> int:
        return len(self.tokens)

    @property
    def due(self) -> int:
        """How many holes this step commits at least."""
        return min(self._due[0], len(self.holes))

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

    def commit(self, slots: Sequence[int], tokens: Sequence[int]) -> None:
        """Fill `due` holes of the current block or more; with its last one the next block opens."""
        for slot, token in zip(slots, tokens, strict=True):
            self.tokens[slot] = token
        self.holes = [slot for slot in self.holes if self.tokens[slot] == self._roles.mask_id]
        self.fresh = False
        self._due.popleft()
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
        if self._pending:
            self.block = self._pending.popleft()
            self.holes = list(self.block)
            self.fresh = True
            self._due = deque(self._commit_counts(len(self.holes)))
