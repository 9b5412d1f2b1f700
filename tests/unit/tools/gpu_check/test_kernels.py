"""The checks of kernels, on a CPU: what is right passes, what is slightly wrong does not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor

from seer_core.kernels.compact import Packed
from seer_core.kernels.confidence import Confidence, Measure
from seer_core.kernels.varlen_attention import Segments
from seer_core.tools.gpu_check.kernels import (
    Kernels,
    check_attention,
    check_compact,
    check_confidence,
    check_sparsity,
    kernels_for,
)
from seer_core.tools.gpu_check.sizes import LLADA_CUT, Sizes

CPU = torch.device("cpu")
OWN = kernels_for(CPU)
SIZES = replace(LLADA_CUT, vocabularies=(63, 200))
Check = Callable[[Kernels, torch.device, Sizes], dict[str, Any]]


def second_best(logits: Tensor, excluded: int, measure: Measure) -> Confidence:
    found = OWN.confidence(logits, excluded, measure)
    return found._replace(tokens=found.tokens.where(torch.arange(len(logits)) > 0, found.tokens + 1))


def rounded(logits: Tensor, excluded: int, measure: Measure) -> Confidence:
    found = OWN.confidence(logits, excluded, measure)
    return found._replace(values=found.values.float().double())


def one_short(gate: Tensor, up: Tensor, eps: float) -> Tensor:
    return OWN.sparsity(gate, up, eps) - 20 / gate.shape[-1]


def shifted(canvases: Tensor, table: Tensor, ends: Tensor, *, mask_id: int, last: int, out: Packed) -> None:
    OWN.compact(canvases, table, ends, mask_id=mask_id, last=last, out=out)
    out.places[:-1] += 1


def one_key_less(query: Tensor, keys: Tensor, values: Tensor, segments: Segments) -> Tensor:
    shorter = segments._replace(key_lengths=(segments.key_lengths - 1).clamp(min=1))
    return OWN.attention(query, keys, values, shorter)


def one_key_more(query: Tensor, keys: Tensor, values: Tensor, segments: Segments) -> Tensor:
    return OWN.attention(query, keys, values, segments._replace(key_lengths=segments.key_lengths + 1))


@pytest.mark.parametrize("check", [check_confidence, check_sparsity, check_compact, check_attention])
def test_the_references_pass_their_own_checks(check: Check) -> None:
    finding = check(OWN, CPU, SIZES)
    assert finding["ok"], finding
    assert finding["cases"] >= 3


@pytest.mark.parametrize(
    ("check", "broken"),
    [
        (check_confidence, OWN._replace(confidence=second_best)),
        (check_confidence, OWN._replace(confidence=rounded)),
        (check_sparsity, OWN._replace(sparsity=one_short)),
        (check_compact, OWN._replace(compact=shifted)),
        (check_attention, OWN._replace(attention=one_key_less)),
        (check_attention, OWN._replace(attention=one_key_more)),
    ],
)
def test_a_kernel_that_is_slightly_wrong_fails(check: Check, broken: Kernels) -> None:
    assert not check(broken, CPU, SIZES)["ok"]
