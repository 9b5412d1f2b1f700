"""Questions from a file: read as written, and every fault named with its line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from seer_core.errors import ConfigError
from seer_core.tools.sample_file import load_samples

GOOD = {"image": "a.png", "prompt": "What?", "answer": "this"}


def written(folder: Path, *lines: object) -> Path:
    (folder / "a.png").write_bytes(b"picture")
    path = folder / "questions.jsonl"
    path.write_text("\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines))
    return path


def test_lines_become_samples_in_order_up_to_the_count(tmp_path: Path) -> None:
    path = written(tmp_path, GOOD, "", {"image": "a.png", "prompt": "Why?", "kind": "why"}, GOOD)
    first, second = load_samples(path, 2)
    assert (first.image, first.prompt, first.answer, first.kind) == (b"picture", "What?", "this", "questions")
    assert (second.prompt, second.answer, second.kind) == ("Why?", "", "why")


@pytest.mark.parametrize(
    ("line", "named"),
    [
        ("{", "line 2: not JSON"),
        ("[1]", "line 2: not a JSON object"),
        ({**GOOD, "imge": "x"}, "unknown field 'imge'"),
        ({**GOOD, "answer": 3}, "answer must be a text"),
        ({"image": "a.png"}, "prompt is missing"),
        ({**GOOD, "image": "b.png"}, "b.png cannot be read"),
    ],
)
def test_a_fault_is_named_with_its_line(tmp_path: Path, line: object, named: str) -> None:
    with pytest.raises(ConfigError, match=named):
        load_samples(written(tmp_path, GOOD, line), 9)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="nowhere"):
        load_samples(tmp_path / "nowhere.jsonl", 1)
