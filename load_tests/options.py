"""What every request of a scenario asks for, whatever its question."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """The fields of a request, under the names both protocols give them."""

    max_tokens: int
    truncate: bool
    budget_s: float

    @property
    def timeout_s(self) -> float:
        """How long a client waits: somewhat longer than the service may take, so that its own refusal is heard."""
        return self.budget_s + 10.0
