"""Which tokens are proposed and which are committed."""

from __future__ import annotations

from collections import Counter

import pytest
import torch
from torch import Tensor

from seer_core.engine.remasking import REMASKING
from seer_core.engine.sampler import Ask, Proposal, propose, propose_together, rank
from seer_core.errors import EngineError
from seer_core.types import Sampling

MASK = 3


def ask(logits: Tensor, sampling: Sampling, rule: str = "low_confidence", *, step: int = 0) -> Proposal:
    return propose(logits, mask_id=MASK, ask=Ask(len(logits), sampling, REMASKING[rule], step))


def proposal_of(logits: Tensor, *, step: int = 0, **sampling: float) -> Proposal:
    options = Sampling(
        temperature=sampling.get("temperature", 0.0),
        top_p=sampling.get("top_p", 1.0),
        seed=int(sampling.get("seed", 0)),
    )
    return ask(logits, options, step=step)


def test_the_mask_is_never_proposed_though_it_is_the_likeliest() -> None:
    logits = torch.tensor([[1.0, 2.0, 0.0, 9.0]])
    assert proposal_of(logits).tokens.tolist() == [1]
    assert MASK not in proposal_of(logits.expand(500, -1), temperature=2.0).tokens


def test_confidence_counts_the_mask_among_the_alternatives() -> None:
    logits = torch.tensor([[1.0, 2.0, 0.0, 9.0]])
    assert proposal_of(logits).confidence.item() == pytest.approx(logits.double().softmax(-1)[0, 1].item(), abs=1e-12)


def test_of_equally_likely_tokens_the_first_is_proposed() -> None:
    assert proposal_of(torch.tensor([[0.0, 4.0, 4.0, 0.0]])).tokens.tolist() == [1]


def test_ties_in_confidence_go_to_the_lower_position() -> None:
    confidence = torch.tensor([0.5, 0.9, 0.5, 0.9, 0.5], dtype=torch.float64)
    assert rank(confidence).order.tolist() == [1, 3, 0, 2, 4]
    assert rank(confidence).confidence.tolist() == [0.9, 0.9, 0.5, 0.5, 0.5]


def test_sampling_follows_the_softmax_at_the_temperature() -> None:
    logits = torch.tensor([[1.0, 2.0, 0.0, 5.0]])
    drawn = Counter(proposal_of(logits.expand(20000, -1), temperature=0.7).tokens.tolist())
    expected = (logits[0, :3].double() / 0.7).softmax(-1)
    for token, probability in enumerate(expected.tolist()):
        assert drawn[token] / 20000 == pytest.approx(probability, abs=0.02)


def test_a_seed_and_step_repeat_their_draw() -> None:
    logits = torch.zeros(64, 50)
    first = proposal_of(logits, temperature=1.0, seed=7, step=2).tokens
    assert torch.equal(first, proposal_of(logits, temperature=1.0, seed=7, step=2).tokens)
    assert not torch.equal(first, proposal_of(logits, temperature=1.0, seed=7, step=3).tokens)
    assert not torch.equal(first, proposal_of(logits, temperature=1.0, seed=8, step=2).tokens)


def test_the_lowest_temperature_is_greedy() -> None:
    logits = torch.tensor([[1.0, 2.0, 4.0, 9.0]])
    for top_p in (1.0, 0.5):
        assert proposal_of(logits, temperature=5e-324, top_p=top_p).tokens.tolist() == [2]


def test_top_p_keeps_the_smallest_set_that_reaches_it() -> None:
    logits = torch.tensor([0.5, 0.3, 0.2, 0.0]).log().expand(2000, -1)
    assert set(proposal_of(logits, temperature=1.0, top_p=0.8).tokens.tolist()) == {0, 1}
    assert set(proposal_of(logits, temperature=1.0, top_p=0.81).tokens.tolist()) == {0, 1, 2}
    assert set(proposal_of(logits, temperature=1.0, top_p=0.01).tokens.tolist()) == {0}


@pytest.mark.parametrize("name", REMASKING)
def test_greedy_is_the_argmax_with_the_confidence_of_the_rule(name: str) -> None:
    logits = torch.randn(40, 300, generator=torch.Generator().manual_seed(0)) * 3
    found = ask(logits, Sampling(seed=5), name, step=2)
    allowed = logits.clone()
    allowed[:, MASK] = -torch.inf
    sampled = ask(logits, Sampling(temperature=5e-324, seed=5), name, step=2)
    assert torch.equal(found.tokens, allowed.argmax(-1))
    assert torch.equal(found.tokens, sampled.tokens)
    if name != "random":  # which draws after the sample has drawn
        assert torch.equal(found.confidence, sampled.confidence)


@pytest.mark.parametrize("name", REMASKING)
@pytest.mark.parametrize("temperature", [0.0, 0.7])
def test_logits_that_are_no_numbers_are_an_error(name: str, temperature: float) -> None:
    logits = torch.zeros(2, 5)
    logits[1, 2] = torch.nan
    with pytest.raises(EngineError, match="not finite"):
        ask(logits, Sampling(temperature=temperature), name)


def test_a_row_with_nothing_but_the_mask_is_an_error() -> None:
    logits = torch.full((1, 5), -torch.inf)
    logits[0, MASK] = 0.0
    with pytest.raises(EngineError, match="not finite"):
        proposal_of(logits)


def test_rows_proposed_together_get_what_they_get_alone() -> None:
    logits = torch.randn(30, 50, generator=torch.Generator().manual_seed(1)) * 3
    options = [("low_confidence", 0.0), ("margin", 0.0), ("random", 0.0), ("entropy", 0.8), ("low_confidence", 0.0)]
    asks = [
        Ask(6, Sampling(temperature=temperature, seed=n), REMASKING[rule], n)
        for n, (rule, temperature) in enumerate(options)
    ]
    together = propose_together(logits, mask_id=MASK, asks=asks)
    for own, each, found in zip(logits.split(6), asks, together, strict=True):
        alone = propose(own, mask_id=MASK, ask=each)
        assert isinstance(found, Proposal)
        assert torch.equal(found.tokens, alone.tokens)
        assert torch.equal(found.confidence, alone.confidence)


@pytest.mark.parametrize("temperature", [0.0, 0.7])
def test_a_row_whose_logits_are_no_numbers_is_told_so_and_no_other(temperature: float) -> None:
    logits = torch.zeros(4, 5)
    logits[3, 2] = torch.nan
    asks = [Ask(2, Sampling(temperature=temperature), REMASKING["low_confidence"], 0)] * 2
    good, bad = propose_together(logits, mask_id=MASK, asks=asks)
    assert isinstance(good, Proposal)
    assert isinstance(bad, EngineError)
