"""Which tickets form the next group. One function: the choice is a value of the queue, the clock and the free rows."""

from __future__ import annotations

from collections.abc import Iterable

from seer_core.router.queue import Waiting
from seer_core.types import Group


def urgency(waiting: Waiting, now_s: float, starving_s: float) -> tuple[int, int, float, int]:
    """Sort key, the most urgent first.

    A starving ticket goes before every other, whatever its priority; then the higher priority, then the older.
    """
    if now_s - waiting.arrived_s >= starving_s:
        return (0, 0, waiting.arrived_s, waiting.order)
    return (1, -waiting.ticket.priority, waiting.arrived_s, waiting.order)


def choose_group(queue: Iterable[Waiting], rows: int, now_s: float, starving_s: float) -> Group | None:
    """The most urgent ticket and the most urgent companions of its bucket, `rows` tickets at most."""
    by_urgency = sorted(queue, key=lambda waiting: urgency(waiting, now_s, starving_s))
    if not by_urgency or rows < 1:
        return None
    bucket = by_urgency[0].bucket_tokens
    members = [waiting.ticket for waiting in by_urgency if waiting.bucket_tokens == bucket]
    return Group(bucket_tokens=bucket, tickets=tuple(members[:rows]))
