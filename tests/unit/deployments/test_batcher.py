"""Single calls become batches; each gets its own result."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence

import pytest

from deployments.batcher import Batcher


class Doubler:
    """Doubles numbers; refuses negative ones one by one and 13 with the whole batch."""

    def __init__(self) -> None:
        self.batches: list[list[int]] = []
        self.gate = threading.Event()
        self.gate.set()

    def __call__(self, items: Sequence[int]) -> list[int | Exception]:
        self.gate.wait(5.0)
        self.batches.append(list(items))
        if 13 in items:
            raise RuntimeError("unlucky")
        return [ValueError(str(item)) if item < 0 else item * 2 for item in items]


async def test_calls_that_arrive_during_a_batch_form_the_next() -> None:
    doubler = Doubler()
    batcher: Batcher[int, int] = Batcher(doubler, max_items=3)
    doubler.gate.clear()
    first = asyncio.ensure_future(batcher.call(0))
    await asyncio.sleep(0.02)
    others = [asyncio.ensure_future(batcher.call(number)) for number in range(1, 6)]
    await asyncio.sleep(0.02)
    doubler.gate.set()
    assert await asyncio.gather(first, *others) == [0, 2, 4, 6, 8, 10]
    assert doubler.batches == [[0], [1, 2, 3], [4, 5]]


async def test_one_failure_is_its_own() -> None:
    batcher: Batcher[int, int] = Batcher(Doubler(), max_items=8)
    bad, good = await asyncio.gather(batcher.call(-1), batcher.call(1), return_exceptions=True)
    assert isinstance(bad, ValueError)
    assert good == 2


async def test_a_failed_batch_fails_its_calls_and_no_later_one() -> None:
    batcher: Batcher[int, int] = Batcher(Doubler(), max_items=8)
    with pytest.raises(RuntimeError, match="unlucky"):
        await batcher.call(13)
    assert await batcher.call(4) == 8


async def test_a_cancelled_call_is_not_run() -> None:
    doubler = Doubler()
    batcher: Batcher[int, int] = Batcher(doubler, max_items=1)
    doubler.gate.clear()
    first = asyncio.ensure_future(batcher.call(1))
    await asyncio.sleep(0.02)
    second, third = (asyncio.ensure_future(batcher.call(number)) for number in (2, 3))
    await asyncio.sleep(0.02)
    second.cancel()
    doubler.gate.set()
    assert await first == 2
    assert await third == 6
    assert doubler.batches == [[1], [3]]
