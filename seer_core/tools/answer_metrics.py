"""How right an answer is: pure functions of texts, each between 0 and 1.

Every metric takes the answer, the right answers, of which the best match counts, and the choices, which only `choice`
looks at. Knows no data set and no model; which benchmark is scored by which metric is in docs/evaluation.md.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches
from fractions import Fraction
from types import MappingProxyType

from seer_core.errors import ConfigError
from seer_core.tools.choice_letter import find_choice, right_letter

Metric = Callable[[str, Sequence[str], Sequence[str]], float]

ANLS_THRESHOLD = Fraction(1, 2)
TOLERANCE = Fraction(5, 100)
NUMBER = re.compile(r"([+-]?)[$€£]?(\d{1,40}|\d{1,3}(?:,\d{3}){1,12})?(?:\.(\d{0,40}))?(%?)")
YES_OR_NO = re.compile(r"\b(yes|no)\b")


def anls(answer: str, right: Sequence[str], choices: Sequence[str] = ()) -> float:
    """Average normalised Levenshtein similarity (DocVQA, InfoVQA): 1 - NL, or 0 from a distance NL of 0.5 on.

    NL is the edit distance over the longer text's length, without regard to case and to the width of spaces.
    """
    del choices
    return max((_similarity(_plain(answer), _plain(one)) for one in right), default=0.0)


def relaxed(answer: str, right: Sequence[str], choices: Sequence[str] = ()) -> float:
    """Relaxed accuracy (ChartQA): a number may be 5 % of the right one off, anything else must be equal but for case.

    A percent sign divides by 100 on both sides, so that `50%` and `0.5` are the same; next to zero nothing is near.
    """
    del choices
    return float(any(_near(answer, one) for one in right))


def exact(answer: str, right: Sequence[str], choices: Sequence[str] = ()) -> float:
    """Equal but for case, the width of spaces, and a closing full stop (GQA, and short answers in general)."""
    del choices
    return float(any(_bare(answer) == _bare(one) for one in right))


def yes_no(answer: str, right: Sequence[str], choices: Sequence[str] = ()) -> float:
    """The first yes or no of the answer against that of the right one (MME, POPE)."""
    del choices
    said = YES_OR_NO.search(answer.casefold())
    wanted = [YES_OR_NO.search(one.casefold()) for one in right]
    return float(said is not None and any(one is not None and one[1] == said[1] for one in wanted))


def choice(answer: str, right: Sequence[str], choices: Sequence[str]) -> float:
    """Multiple choice (MMMU, MMBench, ScienceQA): the letter the answer settles on, or the choice it spells out."""
    letter = find_choice(answer, choices)
    return float(letter is not None and any(letter == right_letter(one, choices) for one in right))


METRICS: Mapping[str, Metric] = MappingProxyType(
    {"anls": anls, "relaxed": relaxed, "exact": exact, "yes_no": yes_no, "choice": choice}
)


def metric_named(name: str) -> Metric:
    """The metric of that name; raises `ConfigError` with the nearest known names."""
    if name in METRICS:
        return METRICS[name]
    near = get_close_matches(name, METRICS, n=1)
    hint = f"; did you mean {near[0]!r}?" if near else ""
    raise ConfigError(f"unknown metric {name!r}, known are {', '.join(METRICS)}{hint}", field="metric")


def edit_distance(one: str, other: str) -> int:
    """The fewest insertions, deletions and replacements that make one text the other."""
    row = list(range(len(other) + 1))
    for above, left in enumerate(one):
        corner, row[0] = row[0], above + 1
        for at, top in enumerate(other, 1):
            corner, row[at] = row[at], min(row[at] + 1, row[at - 1] + 1, corner + (left != top))
    return row[-1]


def _similarity(answer: str, right: str) -> float:
    longer = max(len(answer), len(right))
    distance = Fraction(edit_distance(answer, right), longer) if longer else Fraction(0)
    return float(1 - distance) if distance < ANLS_THRESHOLD else 0.0


def _near(answer: str, right: str) -> bool:
    said, wanted = _number(answer), _number(right)
    if said is None or not wanted:
        return _bare(answer) == _bare(right)
    return abs(said - wanted) <= TOLERANCE * abs(wanted)


def _number(text: str) -> Fraction | None:
    """A decimal number, exactly: with a sign, thousands, a currency or a percent sign; None for any other text."""
    found = NUMBER.fullmatch(text.strip().removesuffix("."))
    if found is None or not (found[2] or found[3]):
        return None
    value = Fraction(f"{found[1]}{(found[2] or '0').replace(',', '')}.{found[3] or '0'}")
    return value / 100 if found[4] else value


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())


def _bare(text: str) -> str:
    return _plain(text).removesuffix(".").rstrip()
