"""Decoder sizes from a config.json: the reference's defaults, and what is refused rather than computed wrongly."""

from __future__ import annotations

import re
from typing import Any

import pytest

from seer_core.errors import ConfigError
from seer_core.families.dimple import DIMPLE
from seer_core.families.layouts import HF_NAMES, LLADA_NAMES, hf_decoder, llada_decoder
from seer_core.families.llada_v import LLADA_V

LLADA = {"d_model": 64, "n_layers": 2, "n_heads": 4, "vocab_size": 100}
HF: dict[str, Any] = {
    "hidden_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 96,
    "vocab_size": 126464,
}


def test_what_a_llada_config_leaves_out_has_the_references_default() -> None:
    config = llada_decoder(LLADA)
    assert (config.kv_heads, config.mlp_size, config.rope_theta, config.max_positions) == (4, 256, 10000.0, 1024)
    assert not config.qkv_bias
    assert config.rope_float32


def test_what_a_transformers_config_leaves_out_has_the_references_default() -> None:
    config = hf_decoder(HF, qkv_bias=True)
    assert (config.kv_heads, config.rope_theta, config.norm_eps) == (4, 10000.0, 1e-6)
    assert config.rope_sections == ()


@pytest.mark.parametrize(
    ("field", "value"),
    [("weight_tying", True), ("activation_type", "gelu"), ("layer_norm_type", "default"), ("alibi", True)],
)
def test_a_llada_option_the_decoder_lacks_is_refused(field: str, value: object) -> None:
    with pytest.raises(ConfigError, match=field):
        llada_decoder({**LLADA, field: value})


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("tie_word_embeddings", True),
        ("hidden_act", "gelu"),
        ("use_sliding_window", True),
        ("rope_scaling", {"type": "yarn", "factor": 4.0}),
        ("mrope_section", [1, 2]),
    ],
)
def test_a_transformers_option_the_decoder_lacks_is_refused(field: str, value: object) -> None:
    with pytest.raises(ConfigError, match=field):
        hf_decoder({**HF, field: value}, qkv_bias=True)


def test_llada_v_uses_the_rows_of_its_tokenizer_and_one_more_for_an_added_patch_token() -> None:
    plain = LLADA_V.decoder({**HF, "mm_use_im_patch_token": False})
    assert (plain.vocab_size, plain.spare_rows) == (126349, 115)
    added = LLADA_V.decoder(HF)
    assert (added.vocab_size, added.spare_rows) == (126350, 114)
    trimmed = LLADA_V.decoder({**HF, "vocab_size": 126349})
    assert (trimmed.vocab_size, trimmed.spare_rows) == (126349, 0)


def test_dimple_finds_its_sections_in_either_place_and_has_a_default() -> None:
    wide = {**HF, "hidden_size": 512}
    assert DIMPLE.decoder(wide).rope_sections == (16, 24, 24)
    for fields in ({"mrope_section": [8, 28, 28]}, {"rope_scaling": {"type": "mrope", "mrope_section": [8, 28, 28]}}):
        assert DIMPLE.decoder({**wide, **fields}).rope_sections == (8, 28, 28)


@pytest.mark.parametrize("names", [LLADA_NAMES, HF_NAMES])
def test_no_tensor_has_two_places(names: tuple[tuple[str, str], ...]) -> None:
    for name in ("model.transformer.ff_out.weight", "model.transformer.blocks.3.ff_out.weight", "lm_head.weight"):
        assert sum(re.fullmatch(pattern, name) is not None for pattern, _ in names) <= 1
