"""Which of the lettered choices a free text settles on.

The rules go from what is meant beyond doubt to what is merely likely; a text that names two choices alike settles on
none, and no rule guesses.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from string import ascii_uppercase

LETTERS = ascii_uppercase

STATED = re.compile(
    r"\b(?:answer|option|choice|choose|select)\b(?:\s+(?:is|was|would be|letter|option))*\s*[:=]?\s*", re.IGNORECASE
)
MARK = r"[\s\"'*`(\[{<]*"
CLOSED = r"(?=$|[\s\"'*`)\]}>.,:;!?])"
VERBS = frozenset({"and", "because", "fits", "is", "or", "since", "was"})
"""Small words that follow a letter, never an article."""
BRACKETED = re.compile(r"[(\[]([A-Z])[)\]]")
ALONE = re.compile(rf"(?<![\w'\u2019]){MARK}([A-Z]){CLOSED}(?!['\u2019]\w)")


def find_choice(text: str, choices: Sequence[str]) -> str | None:
    """The letter of the choice that `text` settles on: `B`, `(b)`, `B. a cat`, `The answer is B`, or `a cat`."""
    letters = LETTERS[: len(choices)]
    for rule in (_whole, _stated, _leading, _bracketed, _spelled, _alone):
        found = rule(text.strip(), letters, choices)
        if found is not None:
            return found
    return None


def right_letter(answer: str, choices: Sequence[str]) -> str | None:
    """The letter of a right answer that is given as a letter or as the choice's own text; None for neither."""
    letters = LETTERS[: len(choices)]
    bare = answer.strip()
    if len(bare) == 1 and bare.upper() in letters:
        return bare.upper()
    same = [letter for letter, one in zip(letters, choices, strict=True) if _plain(one) == _plain(answer)]
    return same[0] if len(same) == 1 else None


def _whole(text: str, letters: str, choices: Sequence[str]) -> str | None:
    """Nothing but the letter, whatever its case and its wrapping."""
    del choices
    bare = re.sub(r"[\s\"'*`()\[\]{}<>.,:;!?]", "", text).upper()
    return bare if len(bare) == 1 and bare in letters else None


def _stated(text: str, letters: str, choices: Sequence[str]) -> str | None:
    """`The answer is B`: the last such statement, since reasoning comes before its conclusion."""
    said = [
        found[1]
        for statement in STATED.finditer(text)
        if (found := re.match(rf"{MARK}([A-Z]){CLOSED}", text[statement.end() :])) is not None
        and not _is_article(text, statement.end() + found.end(1))
    ]
    del choices
    said = [letter for letter in said if letter in letters]
    return said[-1] if said else None


def _leading(text: str, letters: str, choices: Sequence[str]) -> str | None:
    """`B. a cat`, `B) a cat`, `B: a cat`."""
    del choices
    found = re.match(r"[\s\"'*`]*([A-Za-z])\s?[.):]", text)
    return found[1].upper() if found is not None and found[1].upper() in letters else None


def _bracketed(text: str, letters: str, choices: Sequence[str]) -> str | None:
    del choices
    return _only({letter for letter in BRACKETED.findall(text) if letter in letters})


def _spelled(text: str, letters: str, choices: Sequence[str]) -> str | None:
    """The one choice whose words stand in the text; a choice inside a longer one that stands there does not count."""
    said = f" {_words(text)} "
    present = [(letter, _words(one)) for letter, one in zip(letters, choices, strict=True)]
    present = [(letter, one) for letter, one in present if one and f" {one} " in said]
    outer = {
        letter
        for letter, one in present
        if not any(one != other and f" {one} " in f" {other} " for _, other in present)
    }
    return _only(outer)


def _alone(text: str, letters: str, choices: Sequence[str]) -> str | None:
    """A capital that stands alone, but for the article and the pronoun."""
    del choices
    return _only(
        {
            found[1]
            for found in ALONE.finditer(text)
            if found[1] in letters and not _is_article(text, found.end(1)) and found[1] != "I"
        }
    )


def _only(found: set[str]) -> str | None:
    return next(iter(found)) if len(found) == 1 else None


def _is_article(text: str, after: int) -> bool:
    """Whether the letter that ends at `after` is the article of a word: `A dog`."""
    following = re.match(r"\s+([a-z]\w*)", text[after:])
    return text[after - 1] == "A" and following is not None and following[1] not in VERBS


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())


def _words(text: str) -> str:
    """The text's words and numbers, one space between."""
    return " ".join(re.findall(r"[^\W_]+(?:[.'\u2019-][^\W_]+)*", text.casefold()))
