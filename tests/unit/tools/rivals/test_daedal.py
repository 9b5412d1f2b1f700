from __future__ import annotations

from collections.abc import Sequence

import pytest
import torch

from seer_core.config import LoopFacts
from seer_core.errors import ConfigError
from seer_core.models.decoder import Decoder
from seer_core.prompt import EncodedPrompt
from seer_core.tools.rivals.daedal import Daedal
from seer_core.tools.rivals.daedal_canvas import DaedalSettings
from seer_core.types import GenerationRequest, Message, Outcome, Sampling
from tests.unit.engine.stage import ROLES, SIZES, ScriptedDecoder, decode, loop_of, random_decoder, spell


def request(name: str, canvas: int = 48) -> GenerationRequest:
    return GenerationRequest(id=name, messages=(Message(role="user", text=""),), sampling=Sampling(max_tokens=canvas))


def prompt(length: int) -> EncodedPrompt:
    generator = torch.Generator().manual_seed(length)
    return EncodedPrompt(embeddings=torch.randn(length, SIZES.hidden_size, generator=generator))


def run(decoder: Decoder, lengths: Sequence[int], *, rows: int = 2, prefix_lm: bool = True) -> list[Outcome]:
    settings = DaedalSettings(start_tokens=16)
    daedal = Daedal(decoder, ROLES, decode, loop=loop_of(prefix_lm=prefix_lm), max_rows=rows, settings=settings)
    return daedal.run([request(f"{n}") for n in range(len(lengths))], [prompt(length) for length in lengths])


def test_it_says_what_the_model_says() -> None:
    (outcome,) = run(ScriptedDecoder([*spell("hello"), 44]), [1])
    assert (outcome.text, outcome.finish_reason, outcome.detector) == ("hello", "stop", "daedal")
    assert outcome.kept_tokens < outcome.canvas_tokens
    assert outcome.steps < 6  # fewer than one a token


@pytest.mark.parametrize("prefix_lm", [True, False])
def test_rows_that_run_together_get_what_they_get_alone(prefix_lm: bool) -> None:
    lengths = [3, 5, 2, 7, 4]
    together = run(random_decoder(), lengths, rows=3, prefix_lm=prefix_lm)
    alone = [run(random_decoder(), [length], prefix_lm=prefix_lm)[0] for length in lengths]
    assert [(one.tokens, one.steps, one.kept_tokens) for one in together] == [
        (one.tokens, one.steps, one.kept_tokens) for one in alone
    ]


def test_shifted_logits_are_refused() -> None:
    with pytest.raises(ConfigError, match="leave it out of the methods"):
        Daedal(random_decoder(), ROLES, decode, loop=LoopFacts(shifted=True), max_rows=1)
