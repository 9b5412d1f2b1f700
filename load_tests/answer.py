"""What became of one request, as it travels between the processes of a load test: one JSON object a line."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """`latency_ms` counts from the moment the request was due, so that waiting before it was sent is not forgotten.

    `error` is None for an answer that came whole.
    """

    number: int
    at_s: float
    kind: str
    protocol: str
    latency_ms: float
    error: str | None = None

    def line(self) -> str:
        return json.dumps(asdict(self))


def parse_answer(line: str) -> Answer:
    return Answer(**json.loads(line))
