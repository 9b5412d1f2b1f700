"""Whether a ticket may wait at all. A refusal is decided before any work is done for the request."""

from __future__ import annotations

from seer_core.errors import BudgetExceeded, QueueFull
from seer_core.router.config import RouterConfig
from seer_core.types import Ticket


def predicted_steps(ticket: Ticket) -> float:
    """Denoising steps this ticket is expected to take."""
    return max(1.0, ticket.forecast_tokens * ticket.steps_per_token)


def admit(ticket: Ticket, *, waiting: int, work_steps: float, now_s: float, config: RouterConfig) -> None:
    """Return if the ticket may wait.

    `waiting` tickets of `work_steps` predicted steps are ahead of it. Raises QueueFull if the queue holds all it may,
    BudgetExceeded if the budget cannot be met even by an idle worker.
    """
    if waiting >= config.max_waiting:
        retry_after_s = max(1.0, work_steps * config.step_s / config.max_group_rows)
        raise QueueFull(f"{waiting} requests are waiting; try again later", retry_after_s=retry_after_s)
    budget_s = ticket.deadline_s - now_s
    needed_s = predicted_steps(ticket) * config.step_s
    if budget_s <= 0 or budget_s < needed_s:
        raise BudgetExceeded(
            f"a budget of {max(0.0, budget_s):.2f} s cannot be met, the answer takes at least {needed_s:.2f} s",
            field="budget_s",
        )
