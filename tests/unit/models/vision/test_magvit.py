"""The MAGVIT-v2 encoder at a size for tests, and its sizes read from tensor shapes."""

from __future__ import annotations

import pytest
import torch

from seer_core.errors import WeightsError
from seer_core.models.vision.magvit import MagvitEncoder, MagvitSizes, quantise, read_sizes

SIZES = MagvitSizes(stem=32, widths=(32, 64, 64), blocks=(2, 1, 1), bits=5)


@pytest.fixture(scope="module")
def encoder() -> MagvitEncoder:
    torch.manual_seed(0)
    return MagvitEncoder(SIZES).eval().requires_grad_(False)


def shapes_of(encoder: MagvitEncoder) -> dict[str, tuple[int, ...]]:
    return {f"encoder.{name}": tuple(tensor.shape) for name, tensor in encoder.state_dict().items()}


def test_sizes_are_read_back_from_an_encoders_own_shapes(encoder: MagvitEncoder) -> None:
    drawing = {"decoder.down.7.block.0.conv2.weight": (1, 1, 1, 1)}
    assert read_sizes({**drawing, **shapes_of(encoder)}) == SIZES


@pytest.mark.parametrize("lost", ["encoder.conv_in.weight", "encoder.quant_conv.weight"])
def test_a_tensor_that_tells_a_size_is_missed_by_name(encoder: MagvitEncoder, lost: str) -> None:
    shapes = shapes_of(encoder)
    del shapes[lost]
    with pytest.raises(WeightsError, match=lost):
        read_sizes(shapes)


def test_a_missing_level_is_noticed(encoder: MagvitEncoder) -> None:
    shapes = {name: shape for name, shape in shapes_of(encoder).items() if ".down.1." not in name}
    with pytest.raises(WeightsError, match="some level"):
        read_sizes(shapes)


def test_tensors_of_something_else_are_refused() -> None:
    with pytest.raises(WeightsError, match="no MAGVIT-v2 encoder"):
        read_sizes({"model.embed_tokens.weight": (10, 4)})


def test_one_code_stands_for_one_patch_and_codes_run_by_rows(encoder: MagvitEncoder) -> None:
    assert SIZES.patch_px == 4
    pixels = torch.rand(2, 3, 32, 16)
    codes = encoder.codes(pixels)
    assert (codes.shape, codes.dtype) == ((2, 8 * 4), torch.int64)
    assert torch.equal(codes.reshape(2, 8, 4), quantise(encoder(pixels)))


def test_the_first_channel_is_the_highest_bit_and_zero_is_no_bit() -> None:
    features = torch.tensor([[0.5, -1.0, 2.0], [-3.0, -0.1, 0.0]]).reshape(2, 3, 1, 1)
    assert quantise(features).flatten().tolist() == [0b101, 0b000]
