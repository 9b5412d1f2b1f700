from __future__ import annotations

import torch

from seer_core.probe.end_tokens import CHUNK, end_tokens
from tests.unit.probe.tiny import ROLES, tiny_decoder


def test_the_probability_is_the_end_tokens_share_of_the_softmax() -> None:
    logits = torch.randn(3, 32, generator=torch.Generator().manual_seed(0))
    seen = end_tokens(lambda hidden: logits, torch.zeros(3, 4), ROLES)
    expected = logits.double().softmax(-1)[:, [29, 30]].sum(-1)
    torch.testing.assert_close(seen.probability, expected)
    assert seen.probability.dtype == torch.float64


def test_the_likeliest_token_is_sought_without_the_mask() -> None:
    logits = torch.zeros(3, 32)
    logits[0, 29], logits[0, 31] = 2.0, 5.0  # the mask is likelier than the turn's end, but never said
    logits[1, 4], logits[1, 30] = 2.0, 1.0
    logits[2, 30] = 1.0
    assert end_tokens(lambda hidden: logits, torch.zeros(3, 4), ROLES).likeliest.tolist() == [True, False, True]


def test_many_positions_are_taken_in_chunks_and_give_the_same() -> None:
    decoder = tiny_decoder()
    hidden = torch.randn(CHUNK * 2 + 5, 32, generator=torch.Generator().manual_seed(1))
    sizes: list[int] = []

    def logits_of(chunk: torch.Tensor) -> torch.Tensor:
        sizes.append(len(chunk))
        return decoder.logits(chunk)

    seen = end_tokens(logits_of, hidden, ROLES)
    whole = decoder.logits(hidden).double().softmax(-1)[:, [29, 30]].sum(-1)
    torch.testing.assert_close(seen.probability, whole, atol=1e-6, rtol=1e-5)
    assert sizes == [CHUNK, CHUNK, 5]


def test_infinite_certainty_stays_a_probability() -> None:
    logits = torch.full((1, 32), -1e30)
    logits[0, 30] = 1e30
    assert end_tokens(lambda hidden: logits, torch.zeros(1, 4), ROLES).probability.tolist() == [1.0]
