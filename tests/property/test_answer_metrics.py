"""What holds for every answer and every metric."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from seer_core.tools.answer_metrics import METRICS, anls, edit_distance, relaxed
from seer_core.tools.choice_letter import LETTERS, find_choice, right_letter

texts = st.text(max_size=24)
plain = st.text(alphabet="abc 12.,%()'\u2019AB-", max_size=24)
answers = st.lists(texts, min_size=1, max_size=4)
choices = st.lists(st.text(alphabet="klmnop", min_size=2, max_size=6), min_size=2, max_size=6, unique=True)


@given(texts | plain, answers, choices)
def test_every_score_lies_between_0_and_1(answer: str, right: list[str], options: list[str]) -> None:
    assert all(0.0 <= metric(answer, right, options) <= 1.0 for metric in METRICS.values())


@given(st.lists(texts | plain, min_size=1, max_size=4), st.data())
def test_a_right_answer_scores_1(right: list[str], data: st.DataObject) -> None:
    answer = data.draw(st.sampled_from(right))
    for name in ("anls", "relaxed", "exact"):
        assert METRICS[name](answer, right, ()) == 1.0, name


@given(texts | plain, answers, answers, choices)
def test_another_right_answer_never_lowers_a_score(
    answer: str, right: list[str], more: list[str], options: list[str]
) -> None:
    for metric in METRICS.values():
        assert metric(answer, right + more, options) >= metric(answer, right, options)


@given(plain, plain)
def test_anls_is_symmetric_and_is_0_or_above_a_half(one: str, other: str) -> None:
    score = anls(one, [other])
    assert score == anls(other, [one])
    assert score == 0.0 or score > 0.5


@given(plain, plain, plain)
def test_edit_distance_is_a_distance(a: str, b: str, c: str) -> None:
    assert (edit_distance(a, b) == 0) == (a == b)
    assert edit_distance(a, b) == edit_distance(b, a) <= max(len(a), len(b))
    assert edit_distance(a, c) <= edit_distance(a, b) + edit_distance(b, c)


@given(st.integers(-(10**6), 10**6).filter(bool), st.integers(-200, 200))
def test_a_number_is_right_exactly_within_5_percent(right: int, permille: int) -> None:
    off = Fraction(right) * (1000 + permille) / 1000
    text = f"{'-' if off < 0 else ''}{abs(off.numerator * 1000 // off.denominator) / 1000:.3f}"
    assert relaxed(text, [str(right)]) == float(abs(permille) <= 50)


@given(choices, st.data())
def test_every_usual_way_to_name_a_choice_is_understood(options: list[str], data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(options) - 1))
    letter, words = LETTERS[at], options[at]
    for text in (letter, letter.lower(), f"({letter})", f"{letter}. {words}", f"The answer is {letter}.", words):
        assert find_choice(text, options) == letter, text
    assert right_letter(letter, options) == right_letter(words, options) == letter


@given(texts | plain, choices)
def test_a_found_letter_is_one_of_the_choices(text: str, options: list[str]) -> None:
    assert find_choice(text, options) in {None, *LETTERS[: len(options)]}
