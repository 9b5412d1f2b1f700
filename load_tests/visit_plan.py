"""What the visitors' process is told: where to go, when it starts, and who arrives when."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass

from load_tests.arrivals import Arrival
from load_tests.options import Options


@dataclass(frozen=True, slots=True, kw_only=True)
class Visit:
    """`start_s` is on the machine's monotonic clock; `report` is where Locust's own page goes."""

    url: str
    grpc: str
    start_s: float
    arrivals: tuple[Arrival, ...]
    options: Options
    report: str

    def line(self) -> str:
        return json.dumps(asdict(self))


def parse_visit(line: str) -> Visit:
    fields = json.loads(line)
    arrivals = tuple(Arrival(**arrival) for arrival in fields.pop("arrivals"))
    options = Options(**fields.pop("options"))
    return Visit(arrivals=arrivals, options=options, **fields)
