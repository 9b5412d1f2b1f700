"""Images as tokens of the decoder's own vocabulary."""

from __future__ import annotations

import numpy as np
import torch

from seer_core.models.code_vlm import CodeModel
from seer_core.models.vision.magvit import MagvitEncoder, MagvitSizes
from seer_core.prompt import ImageFrame, Prompt
from tests.unit.probe.tiny import tiny_decoder


def frame(seed: int) -> ImageFrame:
    pixels = np.random.default_rng(seed).standard_normal((3, 4, 4), dtype=np.float32)
    return ImageFrame(pixels=pixels, size_px=(4, 4), tokens=4)


def test_codes_are_embedded_at_their_offset_in_the_order_of_the_images() -> None:
    torch.manual_seed(0)
    tower = MagvitEncoder(MagvitSizes(stem=32, widths=(32, 32), blocks=(1, 1), bits=3)).eval().requires_grad_(False)
    model = CodeModel(tiny_decoder(layers=0), tower, -200, first_code_id=20)
    first, second = frame(1), frame(2)
    encoded = model.encode(Prompt(ids=np.array([1, -200, -200, 2]), images=(first, second), length_tokens=10))
    codes = [tower.codes(torch.from_numpy(image.pixels)[None])[0] for image in (first, second)]
    spelled = torch.cat((torch.tensor([1]), codes[0] + 20, codes[1] + 20, torch.tensor([2])))
    assert torch.equal(encoded.embeddings, model.decoder.embed(spelled[None])[0])
    assert encoded.next_position == 10
