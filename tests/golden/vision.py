"""What the tests of the families' image sides share: tensors under new names, and recorded prompt embeddings."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.torch import load_file
from torch import Tensor, nn

from seer_core.config import DecoderConfig
from seer_core.models.decoder import Decoder
from seer_core.prompt import PreparedImage, Prompt
from tests.golden.conftest import case_names, load_case


def image_cases(family: str) -> list[str]:
    """Names of the generation cases that have an image."""
    return [name for name in case_names(family) if load_case(family, name)["image"] is not None]


def bare_decoder(hidden_size: int, vocab_size: int) -> Decoder:
    """A decoder without blocks: enough to embed tokens."""
    config = DecoderConfig(
        hidden_size=hidden_size,
        layers=0,
        heads=4,
        kv_heads=4,
        mlp_size=96,
        vocab_size=vocab_size,
        rope_theta=1e6,
        norm_eps=1e-6,
        max_positions=16384,
    )
    return Decoder(config)


def fill(module: nn.Module, folder: Path, names: Sequence[tuple[str, str]]) -> None:
    """Load every parameter of `module` from the checkpoint, strictly; tensors that no name fits are not needed."""
    state = {}
    for name, tensor in load_file(folder / "model.safetensors").items():
        for pattern, target in names:
            if match := re.fullmatch(pattern, name):
                state[match.expand(target)] = tensor
    module.load_state_dict(state)
    module.eval().requires_grad_(False)


def prompt_of(case: dict[str, Any], images: Sequence[PreparedImage], ids: Sequence[int]) -> Prompt:
    return Prompt(ids=np.array(ids), images=tuple(images), length_tokens=case["prompt_length"])


def assert_embeddings(embeddings: Tensor, numbers: dict[str, Tensor]) -> None:
    """Prompt embeddings [P, D] against the rows and sums that were recorded of the reference's."""
    for rows, name in ((embeddings[:8], "first8"), (embeddings[-8:], "last8"), (embeddings[::61], "every61")):
        torch.testing.assert_close(rows, numbers[f"embeds_{name}"][0], atol=3e-4, rtol=1e-5)
    sums = embeddings.double().sum(-1)
    torch.testing.assert_close(sums, numbers["embeds_row_sum"][0], atol=5e-3, rtol=0)
    largest = embeddings.abs().amax(-1)
    torch.testing.assert_close(largest, numbers["embeds_row_absmax"][0], atol=3e-4, rtol=1e-5)
