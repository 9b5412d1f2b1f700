"""Draws a course as one SVG: arrivals, latency and workers over the same seconds. Plain text, no library."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from load_tests.course import Course

WIDTH, CHART_HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 960, 170, 60, 20, 30, 30
COLOURS = {"http": "#1f77b4", "grpc": "#ff7f0e", "failed": "#d62728", "workers": "#2ca02c", "arrivals": "#7f7f7f"}

Point = tuple[float, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    """A frame of `CHART_HEIGHT` whose upper edge is `top`; `x_max` seconds wide and `y_max` high in its own units."""

    top: float
    x_max: float
    y_max: float

    def at(self, point: Point) -> str:
        x = LEFT + point[0] / self.x_max * (WIDTH - LEFT - RIGHT)
        y = self.top + TOP + (1 - point[1] / self.y_max) * (CHART_HEIGHT - TOP - BOTTOM)
        return f"{x:.1f},{y:.1f}"

    def frame(self, title: str) -> list[str]:
        lines = [f'<text x="{LEFT}" y="{self.top + TOP - 10:.1f}" class="title">{title}</text>']
        for share in (0.0, 0.5, 1.0):
            (x1, y), x2 = self.at((0.0, share * self.y_max)).split(","), self.at((self.x_max, 0.0)).split(",")[0]
            lines.append(f'<line x1="{x1}" y1="{y}" x2="{x2}" y2="{y}" class="grid"/>')
            lines.append(f'<text x="{LEFT - 8}" y="{float(y) + 4:.1f}" class="y">{share * self.y_max:g}</text>')
        step_s = nice(self.x_max / 10)
        for tick in range(int(self.x_max / step_s) + 1):
            x, y = self.at((tick * step_s, 0.0)).split(",")
            lines.append(f'<text x="{x}" y="{float(y) + 16:.1f}" class="x">{tick * step_s:g}</text>')
        return lines

    def steps(self, points: Sequence[Point], colour: str) -> str:
        """A line that keeps each value until the next point."""
        corners = [corner for a, b in pairwise(points) for corner in (a, (b[0], a[1]))]
        path = " ".join(self.at(point) for point in [*corners, *points[-1:]])
        return f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>'

    def dots(self, points: Sequence[Point], colour: str) -> list[str]:
        places = [self.at(point).split(",") for point in points]
        return [f'<circle cx="{x}" cy="{y}" r="3" fill="{colour}" fill-opacity="0.7"/>' for x, y in places]


def plot(course: Course) -> str:
    """The SVG element."""
    ends_s = [answer.at_s + answer.latency_ms / 1000 for answer in course.answers]
    x_max = max([course.scenario.seconds, *ends_s, *(at_s for at_s, _ in course.workers)])
    parts = [*_arrivals(course, x_max), *_latencies(course, x_max), *_workers(course, x_max)]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {3 * CHART_HEIGHT}" role="img">'
        "<style>text{font:12px sans-serif;fill:#444}.title{font-weight:bold}.y{text-anchor:end}.x{text-anchor:middle}"
        ".grid{stroke:#ddd}</style>" + "".join(parts) + "</svg>"
    )


def _arrivals(course: Course, x_max: float) -> list[str]:
    counts = [0] * (int(x_max) + 1)
    for arrival in course.arrivals:
        counts[int(arrival.at_s)] += 1
    chart = Chart(top=0, x_max=x_max, y_max=nice(max(counts)))
    points = [(float(second), float(count)) for second, count in enumerate(counts)]
    return [*chart.frame("Arrivals per second, over seconds"), chart.steps(points, COLOURS["arrivals"])]


def _latencies(course: Course, x_max: float) -> list[str]:
    slowest_ms = max((answer.latency_ms for answer in course.answers), default=0.0)
    chart = Chart(top=CHART_HEIGHT, x_max=x_max, y_max=nice(slowest_ms / 1000))
    groups: dict[str, list[Point]] = {"http": [], "grpc": [], "failed": []}
    for answer in course.answers:
        groups["failed" if answer.error else answer.protocol].append((answer.at_s, answer.latency_ms / 1000))
    legend = ", ".join(f'<tspan fill="{COLOURS[name]}">{name}</tspan>' for name in groups)
    dots = [dot for name, points in groups.items() for dot in chart.dots(points, COLOURS[name])]
    return [*chart.frame(f"Latency in seconds, by the time a request was due: {legend}"), *dots]


def _workers(course: Course, x_max: float) -> list[str]:
    chart = Chart(top=2 * CHART_HEIGHT, x_max=x_max, y_max=max([2, *course.counts]))
    points = [(at_s, float(count)) for at_s, count in course.workers]
    return [*chart.frame("Workers that take requests"), chart.steps(points, COLOURS["workers"])]


def nice(value: float) -> float:
    """The smallest of 1, 2, 5 times a power of ten that is not below `value`; 1 for nothing."""
    if value <= 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(value))
    return next(factor * power for factor in (1, 2, 5, 10) if factor * power >= value * (1 - 1e-9))
