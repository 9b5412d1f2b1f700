from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from seer_core.errors import ConfigError
from seer_core.tools.rivals.document import fill_document

PAGE = """# Page
words
<!-- end-to-end -->
stale words
<!-- /end-to-end -->
<!-- detectors -->
<!-- /detectors -->
more
"""
FACTS: dict[str, Any] = {
    "machine": {"processor": "a processor", "threads": 2, "torch": "2"},
    "fingerprint": "f",
    "profile": "p",
    "dtype": "float32",
    "lengths": {
        "4": {"rows": 4, "least_tokens": 1, "most_tokens": 9, "mean_tokens": 5.0, "length_depends_on_image": 0.5}
    },
}


def write(path: Path, rows: list[dict[str, Any]], **more: Any) -> Path:
    path.write_text(json.dumps({"rows": rows, **FACTS, **more}))
    return path


def whole(tmp_path: Path, **more: Any) -> Path:
    measured = {"canvas": 64, "batch": 1, "quality_rows": 4, "rounds": 3, "exact_agreement": 1.0}
    speeds = {"fixed": 1.0, "daedal": 4.0, "seer": 8.0}
    rows = [
        {
            "method": name,
            **measured,
            "ratio_to_baseline": speed,
            **{kind: {other: speed / one for other, one in speeds.items()} for kind in ("ratio_to", "cpu_ratio_to")},
        }
        for name, speed in speeds.items()
    ]
    return write(tmp_path / "whole.json", rows, **more)


@pytest.fixture
def page(tmp_path: Path) -> Path:
    path = tmp_path / "page.md"
    path.write_text(PAGE)
    return path


def test_tables_and_pictures_go_to_their_place_and_prose_stays(page: Path, tmp_path: Path) -> None:
    detectors = [
        {"detector": "paper", "canvas": c, "layers": 4, "head": False, "boundary_mae_tokens": 1.0, "probe_ms": 2.0}
        for c in (32, 64)
    ]
    written = fill_document(page, end_to_end=whole(tmp_path), detectors=write(tmp_path / "detectors.json", detectors))
    text = page.read_text()
    assert "stale words" not in text
    assert text.startswith("# Page\nwords\n")
    assert text.endswith("more\n")
    assert "| 64 | 1 | daedal | 4.00 | 8.00 | 2.00 |" in text
    assert "answers of 1 to 9 tokens, 5.0 on average; the length depends on the image in 50%" in text
    assert "### Detectors, canvas 64" in text
    assert [path.name for path in written[1:]] == [
        *("benchmarks-speed.png", "benchmarks-trade.png", "benchmarks-detectors.png")
    ]
    assert all(path.stat().st_size > 1000 for path in written[1:])


def test_filling_twice_gives_the_same_page(page: Path, tmp_path: Path) -> None:
    fill_document(page, end_to_end=whole(tmp_path), detectors=None)
    once = page.read_text()
    fill_document(page, end_to_end=whole(tmp_path), detectors=None)
    assert page.read_text() == once


def test_an_unfinished_table_says_so(page: Path, tmp_path: Path) -> None:
    fill_document(page, end_to_end=whole(tmp_path, missing_cells=3), detectors=None)
    assert "**3 cells are not measured yet.**" in page.read_text()


def test_a_page_without_the_mark_is_refused(tmp_path: Path) -> None:
    bare = tmp_path / "bare.md"
    bare.write_text("nothing")
    with pytest.raises(ConfigError, match="no place for end-to-end"):
        fill_document(bare, end_to_end=whole(tmp_path), detectors=None)


def test_results_of_another_benchmark_are_refused(page: Path, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="name a detector"):
        fill_document(page, end_to_end=None, detectors=whole(tmp_path))
