"""What each rule calls confident."""

from __future__ import annotations

import torch

from seer_core.engine.remasking import REMASKING, entropy, low_confidence, margin, random

LOGITS = torch.tensor([[2.0, 1.0, 0.0], [5.0, 5.0, -9.0], [0.0, 3.0, 0.0]], dtype=torch.float64)
PROBABILITIES = LOGITS.softmax(-1)
TOKENS = torch.tensor([0, 0, 1])


def seeded(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def test_low_confidence_is_the_probability_of_the_proposal() -> None:
    expected = torch.stack([PROBABILITIES[0, 0], PROBABILITIES[1, 0], PROBABILITIES[2, 1]])
    assert torch.equal(low_confidence(PROBABILITIES, TOKENS, seeded()), expected)


def test_entropy_prefers_the_peaked_row() -> None:
    confidence = entropy(PROBABILITIES, TOKENS, seeded())
    assert confidence.argmax() == 2
    assert torch.allclose(confidence, -torch.distributions.Categorical(probs=PROBABILITIES).entropy(), atol=1e-9)


def test_entropy_of_a_certain_row_is_a_number() -> None:
    certain = torch.tensor([[1.0, 0.0, 0.0]], dtype=torch.float64)
    assert entropy(certain, TOKENS[:1], seeded()).isfinite().all()


def test_margin_is_nothing_where_two_tokens_tie() -> None:
    confidence = margin(PROBABILITIES, TOKENS, seeded())
    assert confidence[1] == 0
    assert confidence[0] == PROBABILITIES[0, 0] - PROBABILITIES[0, 1]


def test_random_repeats_with_its_seed_only() -> None:
    first = random(PROBABILITIES, TOKENS, seeded(1))
    assert torch.equal(first, random(PROBABILITIES, TOKENS, seeded(1)))
    assert not torch.equal(first, random(PROBABILITIES, TOKENS, seeded(2)))


def test_every_rule_gives_one_float64_per_position() -> None:
    for rule in REMASKING.values():
        confidence = rule(PROBABILITIES, TOKENS, seeded())
        assert confidence.shape == (3,)
        assert confidence.dtype == torch.float64
