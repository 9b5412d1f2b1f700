"""The router's policy as one object: submit, cancel, expire, next group. Every time is an argument."""

from __future__ import annotations

from collections.abc import Collection

from seer_core.router.admission import admit, predicted_steps
from seer_core.router.bucket import bucket_of
from seer_core.router.config import RouterConfig
from seer_core.router.grouping import choose_group
from seer_core.router.queue import BucketQueue
from seer_core.types import Group, Ticket


class Router:
    """Buckets the waiting tickets by forecast length and hands them out in groups of one bucket."""

    def __init__(self, config: RouterConfig) -> None:
        self._config = config
        self._queue = BucketQueue()

    def __len__(self) -> int:
        return len(self._queue)

    @property
    def waiting_steps(self) -> float:
        """Predicted denoising steps of all waiting tickets."""
        return sum(predicted_steps(waiting.ticket) for waiting in self._queue)

    def submit(self, ticket: Ticket, now_s: float) -> None:
        """Let the ticket wait. Raises QueueFull or BudgetExceeded. A waiting id is replaced and keeps its place."""
        ahead = len(self) - (ticket.id in self._queue)
        admit(ticket, waiting=ahead, work_steps=self.waiting_steps, now_s=now_s, config=self._config)
        self._queue.add(ticket, bucket_of(ticket.forecast_tokens, self._config.bucket_tokens), now_s)

    def cancel(self, ids: Collection[str]) -> None:
        """Forget these tickets. Idempotent; ids that do not wait are no error."""
        self._queue.remove(ids)

    def expire(self, now_s: float) -> list[Ticket]:
        """Remove and return the tickets whose deadline has passed."""
        return self._queue.take(lambda waiting: waiting.ticket.deadline_s <= now_s)

    def next_group(self, free_rows: int, now_s: float) -> Group | None:
        """Remove and return the next group, at most `free_rows` tickets of one bucket; None if nothing can go.

        Tickets past their deadline are left for `expire`.
        """
        rows = min(free_rows, self._config.max_group_rows)
        alive = (waiting for waiting in self._queue if waiting.ticket.deadline_s > now_s)
        group = choose_group(alive, rows, now_s, self._config.starving_s)
        if group is not None:
            self._queue.remove([ticket.id for ticket in group.tickets])
        return group
