"""Whatever happens in whatever order: no ticket is lost or sent twice, and groups are what they promise to be."""

from __future__ import annotations

from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

from seer_core.errors import BudgetExceeded, QueueFull
from seer_core.router import Router, RouterConfig
from seer_core.router.bucket import bucket_of
from seer_core.types import Ticket

CONFIG = RouterConfig(max_waiting=12, max_group_rows=4, starving_s=3.0, step_s=0.01)

tickets = st.builds(
    Ticket,
    id=st.uuids().map(str),
    prompt_tokens=st.integers(1, 500),
    forecast_tokens=st.integers(1, 2000),
    canvas_tokens=st.just(2048),
    steps_per_token=st.sampled_from([0.25, 0.5, 1.0]),
    deadline_s=st.floats(0.1, 60.0),
    priority=st.integers(-2, 2),
)
events = st.lists(
    st.one_of(
        st.tuples(st.just("submit"), tickets),
        st.tuples(st.just("group"), st.integers(0, 6)),
        st.tuples(st.just("cancel"), st.integers(0, 100)),
        st.tuples(st.just("expire"), st.none()),
        st.tuples(st.just("wait"), st.floats(0.0, 5.0)),
    ),
    max_size=60,
)


class Replay:
    """Plays events against a router and notes what became of every ticket."""

    def __init__(self) -> None:
        self.router = Router(CONFIG)
        self.now_s = 0.0
        self.accepted: dict[str, Ticket] = {}
        self.left: Counter[str] = Counter()

    def play(self, kind: str, value: object) -> None:
        getattr(self, kind)(value)

    def submit(self, ticket: Ticket) -> None:
        try:
            self.router.submit(ticket, self.now_s)
        except QueueFull:
            assert len(self.router) == CONFIG.max_waiting
        except BudgetExceeded:
            assert ticket.deadline_s - self.now_s <= max(0.0, ticket.forecast_tokens * CONFIG.step_s)
        else:
            self.accepted[ticket.id] = ticket

    def group(self, free_rows: int) -> None:
        group = self.router.next_group(free_rows, self.now_s)
        if group is None:
            return
        assert 1 <= len(group.tickets) <= min(free_rows, CONFIG.max_group_rows)
        for ticket in group.tickets:
            assert ticket.deadline_s > self.now_s
            assert bucket_of(ticket.forecast_tokens, CONFIG.bucket_tokens) == group.bucket_tokens
            self.left[ticket.id] += 1

    def cancel(self, index: int) -> None:
        waiting = [ticket_id for ticket_id in self.accepted if ticket_id not in self.left]
        if waiting:
            chosen = waiting[index % len(waiting)]
            self.router.cancel([chosen])
            self.left[chosen] += 1

    def expire(self, _: None) -> None:
        for ticket in self.router.expire(self.now_s):
            assert ticket.deadline_s <= self.now_s
            self.left[ticket.id] += 1

    def wait(self, seconds: float) -> None:
        self.now_s += seconds


@given(events)
@settings(max_examples=150, deadline=None)
def test_every_accepted_ticket_leaves_exactly_once(script: list[tuple[str, object]]) -> None:
    replay = Replay()
    for kind, value in script:
        replay.play(kind, value)
    while len(replay.router):
        replay.group(4)
        replay.expire(None)
    assert replay.left == Counter(replay.accepted.keys())


@given(st.lists(tickets, min_size=1, max_size=12, unique_by=lambda ticket: ticket.id))
@settings(max_examples=100, deadline=None)
def test_every_waiting_ticket_comes_out_although_higher_priorities_keep_coming(waiting: list[Ticket]) -> None:
    config = RouterConfig(max_waiting=1000, starving_s=3.0)
    router = Router(config)
    for ticket in waiting:
        router.submit(ticket, -1000.0)
    out: set[str] = set()
    for turn in range(len(waiting)):
        router.submit(_rival(turn), -900.0)
        group = router.next_group(1, -900.0)
        assert group is not None
        out |= {ticket.id for ticket in group.tickets}
    assert out == {ticket.id for ticket in waiting}


def _rival(turn: int) -> Ticket:
    return Ticket(
        id=f"rival {turn}",
        prompt_tokens=1,
        forecast_tokens=1,
        canvas_tokens=1,
        steps_per_token=1.0,
        deadline_s=1000.0,
        priority=9,
    )
