"""Which bucket a canvas length falls into."""

from __future__ import annotations

import pytest

from seer_core.router.bucket import bucket_of


@pytest.mark.parametrize(("tokens", "bucket"), [(1, 8), (8, 8), (9, 16), (64, 64), (65, 128), (128, 128), (129, 256)])
def test_a_length_falls_into_the_smallest_bucket_that_holds_it(tokens: int, bucket: int) -> None:
    assert bucket_of(tokens, (8, 16, 64, 128)) == bucket
