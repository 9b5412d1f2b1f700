"""Reads an nginx configuration: enough of its grammar for directives, blocks and comments."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

TOKEN = re.compile(r'\s+|#[^\n]*|([{};])|("[^"]*"|[^\s{};"#]+)')


@dataclass(frozen=True, slots=True, kw_only=True)
class Directive:
    """A name, its words, and for a block what is between its braces."""

    name: str
    words: tuple[str, ...]
    inside: tuple[Directive, ...] | None

    def all(self, name: str) -> list[Directive]:
        return [directive for directive in self.inside or () if directive.name == name]

    def one(self, name: str) -> str:
        """The words of the only directive of this name. Raises ValueError where there is not exactly one."""
        (found,) = self.all(name)
        return " ".join(found.words)


def parse(text: str) -> Directive:
    """The whole file as one block. Raises ValueError for unbalanced braces and for a directive without its `;`."""
    tokens = _tokens(text)
    inside = _block(tokens)
    if next(tokens, None) is not None:
        raise ValueError("a closing brace too many")
    return Directive(name="main", words=(), inside=inside)


def _tokens(text: str) -> Iterator[str]:
    place = 0
    while place < len(text):
        match = TOKEN.match(text, place)
        if match is None:
            raise ValueError(f"not nginx: {text[place : place + 20]!r}")
        place = match.end()
        if match[1] or match[2]:
            yield match[1] or match[2]
    yield ""


def _block(tokens: Iterator[str]) -> tuple[Directive, ...]:
    found: list[Directive] = []
    words: list[str] = []
    for token in tokens:
        if token in {"}", ""}:
            if words:
                raise ValueError(f"no `;` after {' '.join(words)}")
            return tuple(found)
        if token in {";", "{"}:
            inside = _block(tokens) if token == "{" else None
            found.append(Directive(name=words[0], words=tuple(words[1:]), inside=inside))
            words = []
        else:
            words.append(token)
    raise ValueError("a brace is not closed")
