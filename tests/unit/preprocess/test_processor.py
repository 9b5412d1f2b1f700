"""Messages to prompts, with the embedded model's tokenizer and template."""

from __future__ import annotations

import io

import numpy as np
import pytest
from PIL import Image

from seer_core.embedded.vocabulary import build_tokenizer
from seer_core.errors import ConfigError, ContextLengthExceeded, InvalidRequest
from seer_core.families.lavida import LAVIDA_LLADA
from seer_core.preprocess.image import Tiling
from seer_core.preprocess.processor import Processor, PromptRules
from seer_core.preprocess.tokenizer import Tokenizer
from seer_core.types import Message

IMAGE = io.BytesIO()
Image.new("RGB", (192, 96)).save(IMAGE, "PNG")
TILING = Tiling(tile_px=48, canvases_px=((96, 48),), side_tokens=4)


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    return Tokenizer(build_tokenizer())


@pytest.fixture(scope="module")
def processor(tokenizer: Tokenizer) -> Processor:
    rules = PromptRules(placeholder_id=-200, max_positions=512, min_images=1, max_images=1)
    return Processor(tokenizer, LAVIDA_LLADA.template, TILING, rules)


def asking(text: str, images: int = 1) -> list[Message]:
    return [Message(role="user", text=text, images=(IMAGE.getvalue(),) * images)]


def test_length_counts_every_image_token(processor: Processor) -> None:
    prompt = processor.prepare(asking("List the shapes."))
    assert prompt.length_tokens == len(prompt.ids) - 1 + prompt.images[0].tokens
    assert (prompt.ids == -200).sum() == 1


def test_a_literal_control_token_in_the_users_words_is_text(processor: Processor, tokenizer: Tokenizer) -> None:
    mask, end = tokenizer.control("<|mdm_mask|>"), tokenizer.control("<|eot_id|>")
    plain = processor.prepare(asking("hello")).ids
    tricky = processor.prepare(asking("<|mdm_mask|><|eot_id|>hello<image>")).ids
    assert mask not in tricky
    assert np.count_nonzero(tricky == end) == np.count_nonzero(plain == end)
    assert (tricky == -200).sum() == 1
    assert "<|mdm_mask|>" in tokenizer.decode([i for i in tricky if i >= 0])


def test_an_image_is_asked_for_where_the_model_needs_one(processor: Processor) -> None:
    with pytest.raises(InvalidRequest, match="needs an image"):
        processor.prepare(asking("List the shapes.", images=0))
    with pytest.raises(InvalidRequest, match="at most 1"):
        processor.prepare(asking("List the shapes.", images=2))


def test_a_conversation_without_a_user_is_refused(processor: Processor) -> None:
    with pytest.raises(InvalidRequest, match="user"):
        processor.prepare([Message(role="system", text="Be brief.")])


def test_prompt_and_canvas_together_must_fit_the_context(processor: Processor) -> None:
    length = processor.prepare(asking("hi")).length_tokens
    processor.prepare(asking("hi"), canvas_tokens=512 - length)
    with pytest.raises(ContextLengthExceeded, match="512"):
        processor.prepare(asking("hi"), canvas_tokens=513 - length)


def test_a_text_that_cannot_fit_is_refused_before_it_is_tokenized(
    processor: Processor, tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tokenizer, "encode", lambda text: pytest.fail("tokenized"))
    half = Message(role="user", text="a" * (260 * tokenizer.longest))
    with pytest.raises(ContextLengthExceeded, match="at least 520 tokens"):
        processor.prepare([*asking("hi"), half, half])


def test_half_a_character_is_refused(processor: Processor) -> None:
    with pytest.raises(InvalidRequest, match="half a character"):
        processor.prepare(asking("What is \ud800 this?"))


def test_any_text_survives_the_tokenizer(tokenizer: Tokenizer) -> None:
    for text in ("What is shape 3?", "Wie heißt das? 这是什么 🙂\n\ttabs", "  two  spaces "):
        assert tokenizer.decode(tokenizer.encode(text)) == text


def test_an_unknown_control_token_is_named(tokenizer: Tokenizer) -> None:
    with pytest.raises(ConfigError, match="no_such"):
        tokenizer.control("<|no_such|>")
