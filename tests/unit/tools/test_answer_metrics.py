"""Scores computed by hand, with the cases the benchmarks' own rules turn on."""

from __future__ import annotations

import pytest

from seer_core.errors import ConfigError
from seer_core.tools.answer_metrics import METRICS, anls, choice, edit_distance, exact, metric_named, relaxed, yes_no


@pytest.mark.parametrize(
    ("one", "other", "edits"), [("kitten", "sitting", 3), ("", "abc", 3), ("flaw", "lawn", 2), ("same", "same", 0)]
)
def test_edit_distances(one: str, other: str, edits: int) -> None:
    assert edit_distance(one, other) == edit_distance(other, one) == edits


@pytest.mark.parametrize(
    ("answer", "right", "score"),
    [
        ("Adolf Ivanov", ["adolf  ivanov"], 1.0),
        ("hallo", ["hello"], 1 - 1 / 5),
        ("kitten", ["sitting"], 1 - 3 / 7),
        ("ab", ["ac"], 0.0),  # a distance of exactly a half is too far
        ("abc", ["abd"], 1 - 1 / 3),
        ("1999", ["2004", "1998"], 1 - 1 / 4),  # the nearest of several
        ("", ["x"], 0.0),
        ("", [""], 1.0),
        ("x", [], 0.0),
    ],
)
def test_anls(answer: str, right: list[str], score: float) -> None:
    assert anls(answer, right) == pytest.approx(score)


@pytest.mark.parametrize(
    ("answer", "right", "score"),
    [
        ("105", "100", 1),
        ("1.05", "1", 1),  # the bound itself, which floating point would miss
        ("105.1", "100", 0),
        ("-95", "-100", 1),
        ("95", "-100", 0),
        ("50%", "0.5", 1),
        ("50", "50%", 0),
        ("1,040", "1000", 1),
        ("$3.10", "3", 1),
        ("0.01", "0", 0),
        ("0", "0", 1),
        ("14.", "14", 1),
        ("Germany", "germany", 1),
        ("about 100", "100", 0),
        ("2019", "2015", 1),  # years are numbers too, as in the published metric
        ("inf", "inf", 1),
        ("nan", "1", 0),
        ("%", "%", 1),
    ],
)
def test_relaxed_accuracy(answer: str, right: str, score: int) -> None:
    assert relaxed(answer, [right]) == score


@pytest.mark.parametrize(
    ("answer", "right", "score"),
    [("Yes.", ["yes"], 1), (" red  Circle ", ["red circle"], 1), ("red", ["red circle"], 0), ("a", ["b", "A"], 1)],
)
def test_exact_match(answer: str, right: list[str], score: int) -> None:
    assert exact(answer, right) == score


@pytest.mark.parametrize(
    ("answer", "right", "score"),
    [
        ("Yes, there is a dog.", "Yes", 1),
        ("no", "No", 1),
        ("There is no dog", "No", 1),
        ("Yes. No doubt about it.", "No", 0),
        ("I know nothing", "No", 0),
        ("perhaps", "Yes", 0),
    ],
)
def test_yes_or_no(answer: str, right: str, score: int) -> None:
    assert yes_no(answer, [right]) == score


def test_multiple_choice_takes_the_letter_and_the_choice_itself_for_an_answer() -> None:
    animals = ["a cat", "a dog", "a cow"]
    assert choice("The answer is (B).", ["B"], animals) == 1
    assert choice("B", ["a dog"], animals) == 1
    assert choice("It is a dog.", ["B"], animals) == 1
    assert choice("C", ["A", "C"], animals) == 1
    assert choice("C", ["B"], animals) == 0
    assert choice("no idea", ["B"], animals) == 0


def test_an_unknown_metric_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(ConfigError, match="did you mean 'relaxed'"):
        metric_named("relaxd")
    assert all(metric_named(name) is metric for name, metric in METRICS.items())
