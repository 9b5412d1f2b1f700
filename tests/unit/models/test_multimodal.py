"""What every model does with a prompt, seen on one that has no tower."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from seer_core.errors import InvalidRequest
from seer_core.models.multimodal import MultimodalModel
from seer_core.prompt import EncodedPrompt, ImageViews, Prompt
from tests.unit.probe.tiny import tiny_decoder

MODEL = MultimodalModel(tiny_decoder(layers=0), placeholder_id=-200)
IMAGE = ImageViews(
    pixels=np.zeros((1, 3, 4, 4), dtype=np.float32),
    size_px=(4, 4),
    grid=(0, 0),
    margin=(0, 0),
    map_size=(0, 0),
    tokens=2,
)


def test_a_model_of_text_embeds_its_tokens() -> None:
    encoded = MODEL.encode(Prompt(ids=np.array([3, 1, 4]), images=(), length_tokens=3))
    assert torch.equal(encoded.embeddings, MODEL.decoder.embed(torch.tensor([[3, 1, 4]]))[0])
    assert (encoded.positions, encoded.next_position) == (None, 3)


def test_a_model_of_text_refuses_an_image() -> None:
    with pytest.raises(InvalidRequest, match="takes no images"):
        MODEL.encode(Prompt(ids=np.array([-200, 1]), images=(IMAGE,), length_tokens=3))


def test_image_tokens_take_the_place_of_their_placeholders_in_order() -> None:
    first, second = torch.full((2, 32), 5.0), torch.full((1, 32), 7.0)
    spliced = MODEL.splice(torch.tensor([1, -200, 2, -200]), [first, second])
    text = MODEL.decoder.embed(torch.tensor([[1, 2]]))[0]
    assert torch.equal(spliced, torch.cat((text[:1], first, text[1:], second)))


def test_what_follows_a_prompt_stands_behind_its_largest_position() -> None:
    positions = torch.tensor([[0, 1, 1, 1], [0, 1, 2, 3], [0, 1, 1, 1]])
    assert EncodedPrompt(embeddings=torch.zeros(4, 8), positions=positions).next_position == 4
