"""The yardstick: what one request takes alone."""

from __future__ import annotations

from itertools import accumulate

import pytest

from load_tests.errors import LoadTestError
from load_tests.pace import median_s


def test_the_first_of_each_protocol_is_not_counted() -> None:
    took_s = [9.0, 9.0, 1.0, 2.0, 3.0, 4.0]
    clock = iter(accumulate(second for pair in zip([0.0] * 6, took_s, strict=True) for second in pair))
    assert median_s([lambda _: None, lambda _: None], lambda: next(clock)) == 2.5


def test_a_service_that_fails_alone_is_not_loaded() -> None:
    with pytest.raises(LoadTestError, match="gRPC INTERNAL"):
        median_s([lambda _: "gRPC INTERNAL: oh"], lambda: 0.0)
