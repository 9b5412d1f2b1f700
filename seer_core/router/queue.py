"""The tickets that wait, by bucket. Knows arrival times; decides nothing."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass

from seer_core.types import Ticket


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """A ticket in the queue. `order` counts arrivals, so that equal times still have one order."""

    ticket: Ticket
    bucket_tokens: int
    arrived_s: float
    order: int


class BucketQueue:
    """Waiting tickets by id. Every ticket leaves exactly once: taken, expired or cancelled."""

    def __init__(self) -> None:
        self._waiting: dict[str, Waiting] = {}
        self._arrivals = 0

    def __len__(self) -> int:
        return len(self._waiting)

    def __iter__(self) -> Iterator[Waiting]:
        return iter(self._waiting.values())

    def __contains__(self, ticket_id: object) -> bool:
        return ticket_id in self._waiting

    def add(self, ticket: Ticket, bucket_tokens: int, now_s: float) -> None:
        """Enqueue. A ticket whose id already waits (a caller's retry) takes that one's place in the line."""
        earlier = self._waiting.get(ticket.id)
        self._arrivals += 1
        self._waiting[ticket.id] = Waiting(
            ticket=ticket,
            bucket_tokens=bucket_tokens,
            arrived_s=earlier.arrived_s if earlier else now_s,
            order=earlier.order if earlier else self._arrivals,
        )

    def remove(self, ids: Collection[str]) -> None:
        """Drop these tickets; unknown ids are no error."""
        for ticket_id in ids:
            self._waiting.pop(ticket_id, None)

    def take(self, wanted: Callable[[Waiting], bool]) -> list[Ticket]:
        """Remove and return the tickets that match, in arrival order."""
        taken = [waiting.ticket for waiting in self._waiting.values() if wanted(waiting)]
        self.remove([ticket.id for ticket in taken])
        return taken
