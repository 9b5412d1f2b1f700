"""The documents are a map: their links lead somewhere, and the commands they show exist."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from urllib.parse import unquote

import pytest

from seer_core import cli

LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)(?:\s+\"[^\"]*\")?\)")
CODE = re.compile(r"```.*?```|`[^`\n]+`", re.DOTALL)
SHELL = re.compile(r"```(?:sh|bash|shell|console)\n(.*?)```|`([^`\n]+)`", re.DOTALL)


def relative_links(text: str) -> list[str]:
    targets = LINK.findall(CODE.sub("", text))
    return [target for target in targets if not re.match(r"[a-z][a-z+.-]*:|#", target)]


def commands(text: str) -> list[str]:
    """Every line of a shell block and every inline code, without prompts; a line that goes on is one command."""
    shown = "\n".join(block or inline for block, inline in SHELL.findall(text)).replace("\\\n", " ")
    return [re.sub(r"^\$ ", "", line.strip()) for line in shown.splitlines()]


def makefile_targets(makefile: str) -> set[str]:
    return set(re.findall(r"^([a-z][a-z-]*):", makefile, re.MULTILINE))


def test_every_relative_link_leads_to_a_file(documents: dict[str, str], root: Path) -> None:
    broken = [
        f"{name} -> {target}"
        for name, text in documents.items()
        for target in relative_links(text)
        if not (root / name).parent.joinpath(unquote(target.split("#")[0])).exists()
    ]
    assert broken == []


def test_every_make_target_in_a_document_exists(documents: dict[str, str], texts: dict[str, str]) -> None:
    targets = makefile_targets(texts["Makefile"])
    named = {
        (name, match)
        for name, text in documents.items()
        for command in commands(text)
        for match in re.findall(r"^make ([a-z][a-z-]*)", command)
    }
    assert {(name, target) for name, target in named if target not in targets} == set()


def test_every_seer_command_in_a_document_is_understood(
    documents: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    refused = []
    for name, text in documents.items():
        for command in commands(text):
            words = re.match(r"(?:\.venv/bin/)?seer ([a-z-]+.*)", command)
            # `[--option]` marks a synopsis, a lone subcommand is a name.
            if words is None or "[" in command or " " not in words[1]:
                continue
            try:
                cli.parser().parse_args(shlex.split(words[1], comments=True))
            except SystemExit:
                refused.append(f"{name}: {command}: {capsys.readouterr().err.splitlines()[-1]}")
    assert refused == []


def test_the_house_has_its_documents(documents: dict[str, str]) -> None:
    expected = {"README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "cluster/README.md"}
    assert expected - documents.keys() == set()


def test_the_readme_shows_how_to_serve_and_to_test(documents: dict[str, str]) -> None:
    shown = commands(documents["README.md"])
    assert any(command.startswith("make serve") for command in shown)
    assert any(command.startswith("make test") for command in shown)


def test_ci_runs_what_a_contributor_runs(texts: dict[str, str], root: Path) -> None:
    assert {"make lint", "make test"} <= set(texts[".ci/run"].splitlines())
    assert (root / ".ci/run").stat().st_mode & 0o111
