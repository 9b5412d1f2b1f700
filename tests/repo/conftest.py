"""The repository as its readers get it: the files git tracks, or would."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def root() -> Path:
    return ROOT


@pytest.fixture(scope="session")
def files(root: Path) -> list[Path]:
    """Every file that is tracked, or new and not ignored."""
    listing = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
        cwd=root,
        capture_output=True,
        check=True,
        text=True,
    )
    return [path for name in sorted(filter(None, listing.stdout.split("\0"))) if (path := root / name).is_file()]


@pytest.fixture(scope="session")
def texts(files: list[Path], root: Path) -> dict[str, str]:
    """The text files by their path from the root; whatever is not UTF-8 is data."""
    found = {}
    for path in files:
        try:
            found[path.relative_to(root).as_posix()] = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
    return found


@pytest.fixture(scope="session")
def documents(texts: dict[str, str]) -> dict[str, str]:
    return {name: text for name, text in texts.items() if name.endswith(".md")}
