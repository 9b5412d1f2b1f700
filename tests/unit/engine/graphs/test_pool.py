"""The graph pool gives the body's answers, within its budget, whatever fails."""

from __future__ import annotations

import gc
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from seer_core.engine.graphs.backend import Graph
from seer_core.engine.graphs.pool import GraphPool
from seer_core.engine.graphs.recording import RecordingGraphs
from seer_core.errors import ConfigError, EngineError


class Key(NamedTuple):
    rows: int
    tokens: int


class Inputs(NamedTuple):
    values: Tensor
    scale: Tensor


SMALL, MIDDLE, LARGE = Key(1, 8), Key(2, 16), Key(2, 32)
WEIGHTS = torch.linspace(0.5, 1.5, 4)


def allocate(key: Key) -> Inputs:
    return Inputs(torch.zeros(key.tokens, 4), torch.ones(key.rows))


def inputs(key: Key, seed: int = 1) -> Inputs:
    chance = torch.Generator().manual_seed(seed)
    return Inputs(torch.randn(key.tokens, 4, generator=chance), torch.randn(key.rows, generator=chance))


def compute(key: Key, given: Inputs) -> Tensor:
    """[tokens, 4] -> [tokens]."""
    return ((given.values * WEIGHTS).view(key.rows, -1, 4) * given.scale[:, None, None]).sum(-1).flatten()


def size_bytes(key: Key) -> int:
    """What one graph and its inputs take."""
    alone = pool()
    alone.prepare([key])
    return alone.size_bytes


class Backend(RecordingGraphs):
    """Records, but fails where told to, and notes how often it was asked."""

    def __init__(self, failures: list[Exception | None] | None = None) -> None:
        self.failures = failures or []
        self.asked = 0

    def capture(self, body: Callable[[], Tensor]) -> tuple[Graph, Tensor]:  # type: ignore[override]
        self.asked += 1
        failure = self.failures.pop(0) if self.failures else None
        if failure is not None:
            raise failure
        return super().capture(body)


@pytest.fixture(scope="module", autouse=True)
def _quick_collection() -> Iterator[None]:
    """A full collection of everything that a test session holds takes longer than all the tests here."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(gc, "collect", lambda: 0)
        yield


def pool(
    backend: Backend | None = None, *, body: Callable[[Key, Inputs], Tensor] = compute, budget_bytes: int = 2**30
) -> GraphPool[Key, Inputs]:
    return GraphPool(backend or Backend(), body, allocate, budget_bytes=budget_bytes)


def assert_answers(graphs: GraphPool[Key, Inputs], *keys: Key) -> None:
    for seed, key in enumerate(keys, start=1):
        assert torch.equal(graphs.run(key, inputs(key, seed)), compute(key, inputs(key, seed)))


def test_the_core_grid_is_captured_largest_first() -> None:
    graphs, seen = pool(), []
    graphs.prepare([SMALL, LARGE, MIDDLE, SMALL], progress=lambda done, total: seen.append((done, total)))
    assert graphs.captured == (LARGE, MIDDLE, SMALL)
    assert seen == [(1, 3), (2, 3), (3, 3)]


def test_the_largest_shape_runs_eagerly_before_anything_is_captured() -> None:
    backend, eager = Backend(), []

    def body(key: Key, given: Inputs) -> Tensor:
        if backend.asked == 0:
            eager.append(key)
        return compute(key, given)

    pool(backend, body=body).prepare([SMALL, LARGE])
    assert eager == [LARGE]


def test_the_pool_is_ready_once_the_core_grid_is_captured() -> None:
    graphs, seen = pool(), []
    assert not graphs.ready
    graphs.prepare([SMALL, LARGE], progress=lambda done, total: seen.append(graphs.ready))
    assert seen == [False, False]
    assert graphs.ready


def test_an_empty_core_grid_is_refused() -> None:
    with pytest.raises(ConfigError, match="at least one shape"):
        pool().prepare([])


def test_a_captured_shape_answers_as_the_body_does_each_time() -> None:
    graphs = pool()
    graphs.prepare([SMALL, LARGE])
    assert_answers(graphs, SMALL, LARGE, SMALL, SMALL)
    assert (graphs.hits, graphs.misses) == (4, 0)


def test_another_shape_is_captured_when_it_first_runs() -> None:
    graphs = pool()
    graphs.prepare([LARGE])
    assert_answers(graphs, SMALL, SMALL)
    assert graphs.captured == (LARGE, SMALL)
    assert (graphs.hits, graphs.misses) == (1, 1)


def test_nothing_is_captured_before_the_largest_shape_has_run() -> None:
    backend = Backend()
    graphs = pool(backend)
    assert_answers(graphs, SMALL, SMALL)
    assert (graphs.captured, backend.asked, graphs.misses) == ((), 0, 2)


def test_an_output_outlives_the_next_replay() -> None:
    graphs = pool()
    graphs.prepare([SMALL])
    first = graphs.run(SMALL, inputs(SMALL, 1))
    graphs.run(SMALL, inputs(SMALL, 2))
    assert torch.equal(first, compute(SMALL, inputs(SMALL, 1)))


def test_the_first_output_of_a_new_shape_outlives_the_next_replay() -> None:
    graphs = pool()
    graphs.prepare([LARGE])
    first = graphs.run(SMALL, inputs(SMALL, 1))
    graphs.run(SMALL, inputs(SMALL, 2))
    assert torch.equal(first, compute(SMALL, inputs(SMALL, 1)))


def test_the_callers_inputs_are_read_and_never_kept() -> None:
    graphs = pool()
    graphs.prepare([SMALL])
    mine = inputs(SMALL)
    before = [tensor.clone() for tensor in mine]
    graphs.run(SMALL, mine)
    graphs.run(SMALL, inputs(SMALL, 2))
    assert all(torch.equal(tensor, kept) for tensor, kept in zip(mine, before, strict=True))


def test_the_shape_unused_for_longest_makes_room() -> None:
    keys = [Key(1, 8), Key(2, 8), Key(4, 8), Key(8, 8)]
    graphs = pool(budget_bytes=sum(size_bytes(key) for key in keys[1:]))
    graphs.prepare(keys[:1])
    assert_answers(graphs, keys[1], keys[2], keys[0])  # now keys[1] is the oldest
    assert_answers(graphs, keys[3])
    assert graphs.captured == (keys[2], keys[0], keys[3])
    assert graphs.evictions == 1
    assert_answers(graphs, keys[1])


def test_room_is_counted_in_bytes_not_in_graphs() -> None:
    graphs = pool(budget_bytes=size_bytes(LARGE) + size_bytes(SMALL) - 1)
    graphs.prepare([SMALL])
    assert_answers(graphs, MIDDLE, LARGE)
    assert graphs.captured == (LARGE,)
    assert graphs.evictions == 2


def test_the_size_is_that_of_all_graphs_with_their_inputs() -> None:
    graphs = pool()
    graphs.prepare([SMALL, LARGE])
    assert graphs.size_bytes == size_bytes(SMALL) + size_bytes(LARGE)
    static = allocate(SMALL)
    graph, _ = RecordingGraphs().capture(lambda: compute(SMALL, static))
    assert size_bytes(SMALL) == graph.size_bytes + sum(tensor.nbytes for tensor in static)


def test_a_graph_beyond_the_budget_is_tried_once_and_the_shape_runs_eagerly() -> None:
    backend = Backend()
    graphs = pool(backend, budget_bytes=size_bytes(MIDDLE))
    graphs.prepare([MIDDLE])
    assert_answers(graphs, LARGE, LARGE)
    assert (graphs.captured, graphs.evictions) == ((MIDDLE,), 0)
    assert backend.asked == 2


def test_a_core_grid_beyond_the_budget_keeps_its_larger_shapes() -> None:
    graphs = pool(budget_bytes=size_bytes(LARGE) + size_bytes(SMALL))
    graphs.prepare([SMALL, MIDDLE, LARGE])
    assert graphs.captured == (LARGE, SMALL)
    assert graphs.ready
    assert_answers(graphs, SMALL, MIDDLE, LARGE)


FAILURES = [
    RuntimeError("CUDA error"),
    torch.OutOfMemoryError("out of memory"),
    EngineError("host read"),
    MemoryError(),
]
every_failure = pytest.mark.parametrize("failure", FAILURES, ids=lambda failure: type(failure).__name__)


@every_failure
def test_a_shape_that_cannot_be_captured_runs_eagerly_ever_after(failure: Exception) -> None:
    backend = Backend([None, failure, failure])
    graphs = pool(backend)
    graphs.prepare([LARGE])
    assert_answers(graphs, SMALL, SMALL, SMALL)
    assert graphs.captured == (LARGE,)
    assert backend.asked == 3, "tried twice, never again"
    assert (graphs.hits, graphs.misses) == (0, 3)


def test_a_body_that_reads_on_the_host_runs_eagerly() -> None:
    def body(key: Key, given: Inputs) -> Tensor:
        return compute(key, given) * (2 if given.scale[0] > 0 else 3)

    graphs = pool(body=body)
    graphs.prepare([LARGE, SMALL])
    assert graphs.captured == ()
    assert graphs.ready
    assert torch.equal(graphs.run(SMALL, inputs(SMALL)), body(SMALL, inputs(SMALL)))


def test_a_core_shape_that_cannot_be_captured_does_not_stop_the_others() -> None:
    graphs = pool(Backend([RuntimeError(), RuntimeError()]))
    graphs.prepare([SMALL, MIDDLE, LARGE])
    assert graphs.captured == (MIDDLE, SMALL)
    assert graphs.ready


def test_want_of_memory_costs_the_graphs_made_on_the_way_but_not_the_core_grid() -> None:
    graphs = pool(Backend([None, None, torch.OutOfMemoryError("full"), None]))
    graphs.prepare([LARGE])
    assert_answers(graphs, SMALL, MIDDLE)
    assert graphs.captured == (LARGE, MIDDLE)
    assert graphs.evictions == 1
    assert_answers(graphs, SMALL)


def test_want_of_memory_for_the_inputs_degrades_as_well() -> None:
    def short(key: Key) -> Inputs:
        if key == SMALL:
            raise torch.OutOfMemoryError("full")
        return allocate(key)

    graphs = GraphPool(Backend(), compute, short, budget_bytes=2**30)
    graphs.prepare([LARGE, SMALL])
    assert graphs.captured == (LARGE,)
    assert_answers(graphs, SMALL)


def test_an_error_of_the_body_reaches_the_caller_and_the_pool_goes_on() -> None:
    broken = True

    def body(key: Key, given: Inputs) -> Tensor:
        if broken and key == SMALL:
            raise ValueError("this body is broken")
        return compute(key, given)

    graphs = pool(body=body)
    graphs.prepare([LARGE])
    with pytest.raises(ValueError, match="broken"):
        graphs.run(SMALL, inputs(SMALL))
    broken = False
    assert_answers(graphs, LARGE, SMALL)


def test_garbage_is_left_alone_during_a_capture_and_only_then() -> None:
    frozen = []

    def body(key: Key, given: Inputs) -> Tensor:
        frozen.append(gc.get_freeze_count() > 0)
        return compute(key, given)

    graphs = pool(body=body)
    graphs.prepare([LARGE])
    graphs.run(SMALL, inputs(SMALL))
    assert frozen == [True, True, True], "the largest shape before all captures, its capture, a capture on the way"
    assert gc.get_freeze_count() == 0


def test_garbage_is_collected_again_after_an_error() -> None:
    graphs = pool(Backend([ValueError("no want of memory"), None]))
    with pytest.raises(ValueError, match="no want"):
        graphs.prepare([LARGE])
    assert gc.get_freeze_count() == 0
    assert not graphs.ready
    graphs.prepare([LARGE])
    assert graphs.ready


@every_failure
def test_garbage_is_collected_again_after_a_failed_capture(failure: Exception) -> None:
    graphs = pool(Backend([failure, failure]))
    graphs.prepare([LARGE])
    assert gc.get_freeze_count() == 0


def test_inputs_of_another_shape_or_type_are_refused_rather_than_broadcast() -> None:
    graphs = pool()
    graphs.prepare([MIDDLE])
    values, scale = inputs(MIDDLE)
    with pytest.raises(EngineError, match=r"input 1 is torch.float32 \(1,\), captured as torch.float32 \(2,\)"):
        graphs.run(MIDDLE, Inputs(values, scale[:1]))
    with pytest.raises(EngineError, match="input 0 is"):
        graphs.run(MIDDLE, Inputs(values.double(), scale))
    assert_answers(graphs, MIDDLE)


@pytest.mark.parametrize("action", ["run", "prepare"])
def test_a_second_thread_is_refused_while_one_runs(action: str) -> None:
    inside, leave = threading.Event(), threading.Event()

    def body(key: Key, given: Inputs) -> Tensor:
        inside.set()
        assert leave.wait(10)
        return compute(key, given)

    graphs = pool(body=body)
    with ThreadPoolExecutor(1) as threads:
        running = threads.submit(graphs.run, SMALL, inputs(SMALL))
        assert inside.wait(10)
        with pytest.raises(EngineError, match="another thread"):
            graphs.run(SMALL, inputs(SMALL)) if action == "run" else graphs.prepare([SMALL])
        leave.set()
        assert torch.equal(running.result(10), compute(SMALL, inputs(SMALL)))
    graphs.run(SMALL, inputs(SMALL))  # and free again


@pytest.mark.parametrize("inference", [False, True], ids=["plain", "inference mode"])
def test_callers_may_be_in_inference_mode_or_not(inference: bool) -> None:
    graphs = pool()
    graphs.prepare([LARGE])
    with torch.inference_mode(inference):
        assert_answers(graphs, LARGE, SMALL, SMALL)
    with torch.inference_mode(not inference):
        assert_answers(graphs, LARGE, SMALL)


KEYS = [Key(rows, rows * width) for rows in (1, 2, 4) for width in (1, 3, 8)]


@given(
    core=st.lists(st.sampled_from(KEYS), min_size=1, max_size=4),
    runs=st.lists(st.sampled_from(KEYS), max_size=25),
    budget_bytes=st.integers(0, 12_000),
    failing=st.lists(st.booleans(), max_size=12),
)
def test_any_sequence_of_shapes_gets_the_bodys_answers_within_the_budget(
    core: list[Key], runs: list[Key], budget_bytes: int, failing: list[bool]
) -> None:
    graphs = pool(Backend([RuntimeError() if fails else None for fails in failing]), budget_bytes=budget_bytes)
    graphs.prepare(core)
    assert graphs.ready
    held: list[tuple[Tensor, Tensor]] = []
    for seed, key in enumerate(runs):
        held.append((graphs.run(key, inputs(key, seed)), compute(key, inputs(key, seed))))
        assert graphs.size_bytes <= budget_bytes
    assert all(torch.equal(found, wanted) for found, wanted in held)
    assert graphs.hits + graphs.misses == len(runs)
