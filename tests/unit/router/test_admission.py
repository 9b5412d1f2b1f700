"""Who may wait: a full queue and a hopeless budget are refused at once."""

from __future__ import annotations

import pytest

from seer_core.errors import BudgetExceeded, QueueFull
from seer_core.router import Router, RouterConfig
from tests.unit.router.tickets import ticket


def test_a_full_queue_refuses_and_says_when_to_come_back() -> None:
    router = Router(RouterConfig(max_waiting=2))
    router.submit(ticket(1), 0.0)
    router.submit(ticket(2), 0.0)
    with pytest.raises(QueueFull) as caught:
        router.submit(ticket(3), 0.0)
    assert caught.value.retry_after_s > 0


def test_a_retry_of_a_waiting_ticket_is_not_counted_twice() -> None:
    router = Router(RouterConfig(max_waiting=1))
    router.submit(ticket(1), 0.0)
    router.submit(ticket(1), 1.0)
    assert len(router) == 1


def test_a_budget_shorter_than_the_fastest_possible_run_is_refused() -> None:
    router = Router(RouterConfig(step_s=0.1))
    router.submit(ticket("fits", 10, deadline_s=1.5), 0.0)
    router.submit(ticket("fits at half the steps", 20, deadline_s=1.5, density=0.5), 0.0)
    with pytest.raises(BudgetExceeded) as caught:
        router.submit(ticket("hopeless", 20, deadline_s=1.5), 0.0)
    assert caught.value.field == "budget_s"


def test_a_budget_that_has_run_out_is_refused() -> None:
    with pytest.raises(BudgetExceeded):
        Router(RouterConfig()).submit(ticket(1, deadline_s=5.0), 5.0)
