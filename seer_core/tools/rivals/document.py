"""Fills a page's marked places with tables and pictures made from the benchmarks' JSON; its prose stays.

A place is what lies between `<!-- NAME -->` and `<!-- /NAME -->`, NAME being `end-to-end` or `detectors`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from seer_core.errors import ConfigError
from seer_core.tools.rivals.charts import plot_detectors, plot_speed, plot_trade
from seer_core.tools.rivals.text import VERDICTS, detector_lines, end_to_end_lines, table
from seer_core.tools.rivals.verdict import verdicts

Result = dict[str, Any]


def fill_document(page: Path, *, end_to_end: Path | None, detectors: Path | None) -> list[Path]:
    """Fill the places whose JSON is given; pictures go to `images/` beside the page. What was written.

    Raises `ConfigError` for a page without the mark, or a file that is no result of that benchmark.
    """
    text, images, written = _read(page), page.parent / "images", [page]
    images.mkdir(exist_ok=True)
    if end_to_end is not None:
        result = _result(end_to_end, "method")
        text = _filled(text, "end-to-end", [*_facts(result), *_whole(result["rows"])], page)
        if any(row.get("ratio_to_baseline") is not None for row in result["rows"]):
            written += [images / "benchmarks-speed.png", images / "benchmarks-trade.png"]
            plot_speed(result["rows"], written[-2])
            plot_trade(result["rows"], written[-1])
    if detectors is not None:
        result = _result(detectors, "detector")
        text = _filled(text, "detectors", [*_facts(result), *detector_lines(result["rows"])], page)
        written.append(images / "benchmarks-detectors.png")
        plot_detectors(result["rows"], written[-1])
    page.write_text(text)
    return written


def _whole(rows: Sequence[Result]) -> list[str]:
    found = verdicts(rows)
    head = ["", "### Seer against the best rival that keeps the answers", "", *table(VERDICTS, found)] if found else []
    return [*head, *end_to_end_lines(rows)]


def _facts(result: Result) -> list[str]:
    machine = result["machine"]
    where = f"{machine['processor']}, {machine['threads']} threads, torch {machine['torch']}"
    missing = result.get("missing_cells", 0)
    lines = [
        f"Machine: {where}. Weights `{result['fingerprint']}`, profile `{result['profile']}`, {result['dtype']}.",
        "",
        *(
            f"- {one['rows']} rows: answers of {one['least_tokens']} to {one['most_tokens']} tokens,"
            f" {one['mean_tokens']} on average; the length depends on the image in"
            f" {one['length_depends_on_image']:.0%} of the questions"
            for one in result["lengths"].values()
        ),
    ]
    return [*lines, "", f"**{missing} cells are not measured yet.**"] if missing else lines


def _filled(text: str, name: str, lines: Sequence[str], page: Path) -> str:
    mark = re.compile(rf"(<!-- {name} -->\n).*?(<!-- /{name} -->)", re.DOTALL)
    if mark.search(text) is None:
        raise ConfigError(f"{page} has no place for {name}: <!-- {name} --> ... <!-- /{name} -->", field="out")
    body = "\n".join(lines).strip("\n")
    return mark.sub(lambda found: f"{found[1]}{body}\n{found[2]}", text)


def _result(path: Path, key: str) -> Result:
    try:
        result: Result = json.loads(_read(path))
    except ValueError as error:
        raise ConfigError(f"{path} is no JSON: {error}") from error
    rows = result.get("rows") if isinstance(result, dict) else None
    if not rows or any(key not in row for row in rows):
        raise ConfigError(f"{path} holds no rows that name a {key}")
    return result


def _read(path: Path) -> str:
    try:
        return path.read_text()
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror}") from error
