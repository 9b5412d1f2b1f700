"""Nothing in the repository belongs to one machine, one package index or another day."""

from __future__ import annotations

import re

import pytest

# Written in pieces, so that this file does not find itself.
INDEX_HOSTS = ["pypi" + ".org", "python" + "hosted", "download." + "pytorch", "deb." + "debian", "registry." + "npmjs"]
MACHINE_PATHS = ["/wo" + "rk/", "/ro" + "ot/", "/opt/" + "pypi", "/opt/" + "wheels"]
LATER_WORDS = ["TO" + "DO", "FIX" + "ME", "X" + "XX"]


def lines_with(texts: dict[str, str], pattern: str) -> list[str]:
    found = re.compile(pattern)
    return [
        f"{name}:{number}: {line.strip()[:120]}"
        for name, text in texts.items()
        if found.search(text)
        for number, line in enumerate(text.splitlines(), start=1)
        if found.search(line)
    ]


@pytest.mark.parametrize("path", MACHINE_PATHS)
def test_no_file_names_a_path_of_one_machine(texts: dict[str, str], path: str) -> None:
    assert lines_with(texts, rf"(?<![\w.]){re.escape(path)}") == []


@pytest.mark.parametrize("host", INDEX_HOSTS)
def test_no_file_names_the_host_of_a_package_index(texts: dict[str, str], host: str) -> None:
    assert lines_with(texts, re.escape(host)) == []


@pytest.mark.parametrize("word", LATER_WORDS)
def test_nothing_is_left_for_later(texts: dict[str, str], word: str) -> None:
    assert lines_with(texts, rf"\b{word}\b") == []


def test_every_text_file_ends_with_a_newline(texts: dict[str, str]) -> None:
    assert [name for name, text in texts.items() if name.endswith((".py", ".md")) and text and text[-1] != "\n"] == []
