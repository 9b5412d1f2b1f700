"""The compiled kernels against the references, on the cases that the interpreter sees in `tests/unit/kernels`."""

from __future__ import annotations

import pytest
import torch
from torch.nn.functional import silu

from seer_core.kernels.compact import Compact, Slot, compact_for
from seer_core.kernels.compact.reference import compact as compact_reference
from seer_core.kernels.confidence import confidence_for
from seer_core.kernels.confidence.measure import Measure
from seer_core.kernels.confidence.reference import confidence as confidence_reference
from seer_core.kernels.sparsity import gated_sparsity_for
from seer_core.kernels.sparsity.reference import gated_sparsity as sparsity_reference
from seer_core.kernels.varlen_attention import VarlenAttention, varlen_attention_for
from seer_core.kernels.varlen_attention.reference import varlen_attention as varlen_attention_reference
from tests.unit.kernels.cases import (
    ALL_MEASURES,
    DTYPES,
    UNITS,
    VOCABULARIES,
    assert_same,
    assert_same_shares,
    normal,
    poisoned,
)
from tests.unit.kernels.pools import HEADS, RAGGED, assert_mixed, far_apart, pooled
from tests.unit.kernels.steps import EMPTY, assert_filled, canvases, expected, filled

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")

CUDA = torch.device("cuda")
EPS = 1e-2
Slots = tuple[tuple[int, int], ...]
every_attention = pytest.mark.parametrize(
    "attend", [varlen_attention_for(CUDA), varlen_attention_reference], ids=["kernel", "reference"]
)
every_measure = pytest.mark.parametrize("measure", ALL_MEASURES)


@every_measure
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("shape", VOCABULARIES, ids=str)
def test_confidence_is_the_references(shape: tuple[int, int], dtype: torch.dtype, measure: Measure) -> None:
    logits = normal(*shape).to(dtype)
    excluded = int(logits[0].argmax())
    found = confidence_for(CUDA)(poisoned(logits.cuda()), excluded, measure)
    assert_same(found, confidence_reference(logits, excluded, measure))


@every_measure
def test_confidence_knows_ties_impossible_tokens_and_no_numbers(measure: Measure) -> None:
    logits = torch.zeros(6, 9000)
    logits[0, [70, 71, 8500]] = 5.0
    logits[1, [4095, 4096]] = 5.0
    logits[2, :8999] = -torch.inf
    logits[3, 8000] = torch.nan
    logits[4, 8000] = torch.inf
    logits[5] = -torch.inf
    found = confidence_for(CUDA)(logits.cuda(), 1, measure)
    assert_same(found, confidence_reference(logits, 1, measure))


@every_measure
def test_confidence_reaches_rows_beyond_two_to_the_31_elements(measure: Measure) -> None:
    stride, columns = 2**30 + 7, 50  # a stride that 32 bits hold, an offset that they do not
    field = torch.empty(2 * stride + columns, dtype=torch.bfloat16, device=CUDA)
    logits = field.as_strided((3, columns), (stride, 1))
    logits.copy_(normal(3, columns))
    assert_same(confidence_for(CUDA)(logits, 3, measure), confidence_reference(logits.cpu(), 3, measure))


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("shape", UNITS, ids=str)
def test_sparsity_is_the_references(shape: tuple[int, int], dtype: torch.dtype) -> None:
    gate, up = normal(*shape).to(dtype), normal(*shape, seed=1).to(dtype)
    shares = gated_sparsity_for(CUDA)(poisoned(gate.cuda()), poisoned(up.cuda()), EPS)
    assert_same_shares(shares, sparsity_reference(gate, up, EPS), silu(gate) * up, EPS)


def test_sparsity_takes_a_slice_of_the_positions() -> None:
    gate, up = normal(2, 9, 200).chunk(2, dim=-1)
    shares = gated_sparsity_for(CUDA)(gate.cuda()[:, 4:], up.cuda()[:, 4:], EPS)
    assert_same_shares(shares, sparsity_reference(gate, up, EPS)[:, 4:], (silu(gate) * up)[:, 4:], EPS)


@every_attention
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("heads", HEADS, ids=str)
@pytest.mark.parametrize("slots", RAGGED, ids=str)
def test_each_slot_attends_to_its_own_keys_alone(
    attend: VarlenAttention, slots: Slots, heads: tuple[int, int, int], dtype: torch.dtype
) -> None:
    case = pooled(slots, heads, dtype=dtype)
    assert_mixed(attend(*case.to(CUDA)), case)


@every_attention
def test_attention_reaches_places_beyond_two_to_the_31_elements(attend: VarlenAttention) -> None:
    case = far_apart(CUDA)
    assert_mixed(attend(*case), case)


@every_attention
def test_a_graph_of_attention_follows_its_segments(attend: VarlenAttention) -> None:
    static = pooled(((8, 30), (8, 30), (8, 30)), padding=0).to(CUDA)
    attend(*static)  # compiles outside of the capture
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        found = attend(*static)
    static.segments.query_starts.copy_(torch.tensor([0, 3, 3, 11]))
    static.segments.key_lengths.copy_(torch.tensor([7, 1, 30]))
    graph.replay()
    assert_mixed(found, static)


@pytest.mark.parametrize("compact", [compact_for(CUDA), compact_reference], ids=["kernel", "reference"])
@pytest.mark.parametrize("width", [1, 63, 1000, 1025])
def test_a_step_is_what_the_table_says(compact: Compact, width: int) -> None:
    tokens, bucket = canvases(3, width), width + 70
    slots = [
        Slot(2, 3, bucket, 70, width, 1, 0, -70),
        EMPTY._replace(query_start=bucket),
        Slot(0, 70, bucket - 1, 70, width, 3000, 2 * bucket, 5),
    ]
    size = {"last": 3 * bucket, "positions": 3 * bucket + 5}
    assert_filled(filled(compact, tokens.to(CUDA), slots, **size), expected(tokens, slots, **size))
