"""The report for people: one HTML file with nothing to load, Locust's own page inside it."""

from __future__ import annotations

import html
import json
from typing import Any

from load_tests.course import Course
from load_tests.plot import plot

STYLE = (
    "body{font:15px/1.5 sans-serif;max-width:1000px;margin:2em auto;padding:0 1em;color:#222}"
    "table{border-collapse:collapse}td,th{padding:.2em 1em;border-bottom:1px solid #ddd;text-align:right}"
    "td:first-child,th:first-child{text-align:left}iframe{width:100%;height:900px;border:1px solid #ddd}"
    ".passed{color:#2ca02c}.failed{color:#d62728}pre{white-space:pre-wrap}"
)


def page(course: Course, result: dict[str, Any], locust_page: str) -> str:
    """`locust_page` is a whole HTML document; it keeps to its frame."""
    name = html.escape(course.scenario.name)
    inner = f"<h2>Locust</h2><iframe srcdoc='{html.escape(locust_page)}'></iframe>" if locust_page else ""
    return (
        f"<!DOCTYPE html><html lang='en'><head><meta charset='utf-8'><title>Load test: {name}</title>"
        f"<style>{STYLE}</style></head><body><h1>Load test: {name}</h1>{_verdict(course)}"
        f"{plot(course)}{_table(result)}{inner}"
        f"<h2>Result</h2><pre>{html.escape(json.dumps(result))}</pre></body></html>\n"
    )


def _verdict(course: Course) -> str:
    faults = course.faults()
    if not faults:
        return "<p class='passed'>Passed: no request failed and the workers went as expected.</p>"
    return "".join(f"<p class='failed'>{html.escape(fault)}</p>" for fault in faults)


def _table(result: dict[str, Any]) -> str:
    columns = ("requests", "failures", "p50_ms", "p99_ms")
    rows = [("all", result), *result["by_protocol"].items()]
    head = "".join(f"<th>{column}</th>" for column in ("", *columns))
    body = "".join(
        f"<tr><td>{name}</td>{''.join(f'<td>{figures[column]}</td>' for column in columns)}</tr>"
        for name, figures in rows
    )
    return f"<table><tr>{head}</tr>{body}</table>"
