"""Letters out of free text: what models really write."""

from __future__ import annotations

import pytest

from seer_core.tools.choice_letter import find_choice, right_letter

ANIMALS = ["a cat", "a dog", "a dog house", "an ibis"]


@pytest.mark.parametrize(
    ("text", "letter"),
    [
        ("B", "B"),
        ("b", "B"),
        ("(b)", "B"),
        ("**B**.", "B"),
        ("B. a dog", "B"),
        ("b) a dog", "B"),
        ("B: because of the ears", "B"),
        ("(B) a dog", "B"),
        ("The answer is B.", "B"),
        ("The correct answer is option C", "C"),
        ("Answer: D", "D"),
        ("A is wrong since cats are small, so the answer is C", "C"),
        ("The answer is not obvious. Option A fits, but the answer is (D).", "D"),
        ("I would say B", "B"),
        ("Looking at (A) closely, it is (A)", "A"),
        ("a dog", "B"),
        ("It is a Dog.", "B"),
        ("a dog house", "C"),
        ("A dog is on the left", "B"),
        ("The answer is a cat", "A"),
        ("The answer is A dog", "B"),
        ("The option with a cat", "A"),
        ("I see an ibis here", "D"),
    ],
)
def test_the_letter_that_is_meant(text: str, letter: str) -> None:
    assert find_choice(text, ANIMALS) == letter


@pytest.mark.parametrize(
    "text", ["", "none of them", "A or B", "E", "a cat and a dog", "(A) and (B)", "I do not know", "the category"]
)
def test_a_text_that_settles_on_nothing_gets_no_letter(text: str) -> None:
    assert find_choice(text, ANIMALS) is None


def test_letters_beyond_the_choices_do_not_count() -> None:
    assert find_choice("The answer is D", ["x-ray", "y-axis"]) is None
    assert find_choice("I", list("abcdefghi")) == "I"


def test_numbers_are_choices_too() -> None:
    assert find_choice("It costs 3.5 dollars.", ["3", "3.5", "35"]) == "B"
    assert find_choice("35", ["3", "3.5", "35"]) == "C"


def test_a_right_answer_is_a_letter_or_a_choice() -> None:
    assert right_letter(" b ", ANIMALS) == "B"
    assert right_letter("A Dog  House", ANIMALS) == "C"
    assert right_letter("a bird", ANIMALS) is None
    assert right_letter("E", ANIMALS) is None
    assert right_letter("twice", ["twice", "twice"]) is None
