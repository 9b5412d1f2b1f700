"""Which tickets run together, and in what order."""

from __future__ import annotations

from seer_core.router import Router, RouterConfig
from seer_core.types import Ticket
from tests.unit.router.tickets import ticket


def router_with(*tickets: Ticket, config: RouterConfig | None = None) -> Router:
    router = Router(config or RouterConfig())
    for one in tickets:
        router.submit(one, 0.0)
    return router


def ids(router: Router, free_rows: int = 16, now_s: float = 0.0) -> list[str]:
    group = router.next_group(free_rows, now_s)
    return [] if group is None else [one.id for one in group.tickets]


def test_a_group_is_the_oldest_ticket_and_its_bucket() -> None:
    router = router_with(ticket("a", 5), ticket("b", 60), ticket("c", 8), ticket("d", 64))
    group = router.next_group(16, 0.0)
    assert group is not None
    assert (group.bucket_tokens, [one.id for one in group.tickets]) == (8, ["a", "c"])
    assert ids(router) == ["b", "d"]
    assert ids(router) == []


def test_a_group_is_no_larger_than_the_free_rows() -> None:
    router = router_with(*(ticket(number) for number in range(5)))
    assert ids(router, free_rows=2) == ["0", "1"]
    assert ids(router, free_rows=0) == []
    assert ids(router, free_rows=9) == ["2", "3", "4"]


def test_a_group_is_no_larger_than_the_limit() -> None:
    router = router_with(*(ticket(number) for number in range(5)), config=RouterConfig(max_group_rows=3))
    assert ids(router) == ["0", "1", "2"]


def test_a_higher_priority_goes_first() -> None:
    router = router_with(ticket("plain"), ticket("urgent", 100, priority=1))
    assert ids(router) == ["urgent"]


def test_a_starving_ticket_goes_before_every_priority() -> None:
    router = router_with(ticket("old"), config=RouterConfig(starving_s=2.0))
    router.submit(ticket("urgent", 100, priority=9), 1.9)
    assert ids(router, now_s=2.0) == ["old"]


def test_a_retry_keeps_its_place_in_the_line() -> None:
    router = router_with(ticket("first", 8), ticket("second", 100))
    router.submit(ticket("first", 100), 1.0)
    assert ids(router, free_rows=1, now_s=1.0) == ["first"]


def test_a_cancelled_ticket_never_comes_out() -> None:
    router = router_with(ticket("a"), ticket("b"))
    router.cancel(["a", "unknown"])
    router.cancel(["a"])
    assert ids(router) == ["b"]


def test_tickets_past_their_deadline_expire_and_are_not_sent() -> None:
    router = router_with(ticket("late", deadline_s=1.0), ticket("fine", deadline_s=2.0))
    assert [one.id for one in router.expire(0.5)] == []
    assert ids(router, now_s=1.0) == ["fine"]
    assert [one.id for one in router.expire(1.0)] == ["late"]
    assert len(router) == 0


def test_the_waiting_work_is_counted_in_steps() -> None:
    router = router_with(ticket(1, 10), ticket(2, 10, density=0.5))
    assert router.waiting_steps == 15
