"""A test passes if every request was answered and the workers went the expected way, and says what was wrong else."""

from __future__ import annotations

import pytest

from tests.unit.load_tests.course import course


def test_answers_to_all_and_the_expected_workers_are_a_pass() -> None:
    assert course().faults() == []


def test_a_failed_request_is_a_fault_that_quotes_its_error() -> None:
    assert course(errors=[3]).faults() == ["1 requests failed; the first: HTTP 500: <b>oh</b>"]


def test_a_request_without_an_answer_is_a_fault() -> None:
    assert course(lost=[3, 4]).faults() == ["2 requests got no answer"]


@pytest.mark.parametrize(
    ("counts", "said"), [([1], "1"), ([1, 2], "1 -> 2"), ([1, 2, 1, 2, 1], "1 -> 2 -> 1 -> 2 -> 1"), ([], "unseen")]
)
def test_workers_that_go_another_way_are_a_fault(counts: list[int], said: str) -> None:
    workers = [(float(second), count) for second, count in enumerate(counts)]
    assert course(workers=workers).faults() == [f"workers went {said}, expected 1 -> 2 -> 1"]
