"""The two ways in which decoders are written down, each shared by several families: tensor names and config fields.

`llada` is the layout of LLaDA's own repository (`ff_proj` is the gate, `ff_out` the down projection,
`transformer.ff_out` the head); `hf` is that of Llama and Qwen2 in transformers.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from seer_core.config import DecoderConfig
from seer_core.errors import ConfigError
from seer_core.families.family import Fields

_LLADA_BLOCK = r"model\.transformer\.blocks\.(\d+)\."
_HF_LAYER = r"model\.layers\.(\d+)\."

LLADA_MARK = "model.transformer.blocks.0.ff_proj.weight"
HF_MARK = "model.layers.0.mlp.gate_proj.weight"
HF_BIAS_MARK = "model.layers.0.self_attn.q_proj.bias"

LLADA_NAMES: tuple[tuple[str, str], ...] = (
    (r"model\.transformer\.wte\.weight", r"decoder.embedding.weight"),
    (_LLADA_BLOCK + r"attn_norm\.weight", r"decoder.blocks.\1.attention_norm.weight"),
    (_LLADA_BLOCK + r"ff_norm\.weight", r"decoder.blocks.\1.mlp_norm.weight"),
    (_LLADA_BLOCK + r"([qkv])_proj\.(weight|bias)", r"decoder.blocks.\1.attention.\2_proj.\3"),
    (_LLADA_BLOCK + r"attn_out\.weight", r"decoder.blocks.\1.attention.o_proj.weight"),
    (_LLADA_BLOCK + r"ff_proj\.weight", r"decoder.blocks.\1.mlp.gate_proj.weight"),
    (_LLADA_BLOCK + r"up_proj\.weight", r"decoder.blocks.\1.mlp.up_proj.weight"),
    (_LLADA_BLOCK + r"ff_out\.weight", r"decoder.blocks.\1.mlp.down_proj.weight"),
    (r"model\.transformer\.ln_f\.weight", r"decoder.norm.weight"),
    (r"model\.transformer\.ff_out\.weight", r"decoder.head.weight"),
)

HF_NAMES: tuple[tuple[str, str], ...] = (
    (r"model\.embed_tokens\.weight", r"decoder.embedding.weight"),
    (_HF_LAYER + r"input_layernorm\.weight", r"decoder.blocks.\1.attention_norm.weight"),
    (_HF_LAYER + r"post_attention_layernorm\.weight", r"decoder.blocks.\1.mlp_norm.weight"),
    (_HF_LAYER + r"self_attn\.([qkvo])_proj\.(weight|bias)", r"decoder.blocks.\1.attention.\2_proj.\3"),
    (_HF_LAYER + r"mlp\.(gate|up|down)_proj\.weight", r"decoder.blocks.\1.mlp.\2_proj.weight"),
    (r"model\.norm\.weight", r"decoder.norm.weight"),
    (r"lm_head\.weight", r"decoder.head.weight"),
)

_LLADA_ONLY: Mapping[str, tuple[Any, ...]] = MappingProxyType(
    {
        "activation_type": ("silu",),
        "alibi": (False,),
        "attention_layer_norm": (False,),
        "block_group_size": (1,),
        "block_type": ("llama",),
        "include_bias": (False,),
        "input_emb_norm": (False,),
        "layer_norm_type": ("rms",),
        "multi_query_attention": (False,),
        "rope": (True,),
        "scale_logits": (False,),
        "weight_tying": (False,),
    }
)
_HF_ONLY: Mapping[str, tuple[Any, ...]] = MappingProxyType(
    {"hidden_act": ("silu",), "mlp_bias": (False,), "tie_word_embeddings": (False,), "use_sliding_window": (False,)}
)


def llada_decoder(fields: Fields) -> DecoderConfig:
    """The decoder of a config.json in LLaDA's words; what it leaves out has the reference's default.

    Raises `ConfigError` for an option the decoder does not have, `KeyError` for a missing size.
    """
    _only(fields, _LLADA_ONLY)
    return DecoderConfig(
        hidden_size=fields["d_model"],
        layers=fields["n_layers"],
        heads=fields["n_heads"],
        kv_heads=fields.get("n_kv_heads") or fields["n_heads"],
        mlp_size=fields.get("mlp_hidden_size") or fields.get("mlp_ratio", 4) * fields["d_model"],
        vocab_size=fields.get("embedding_size") or fields["vocab_size"],
        rope_theta=fields.get("rope_theta", 10000.0),
        norm_eps=fields.get("rms_norm_eps", 1e-5),
        max_positions=fields.get("max_sequence_length", 1024),
        qkv_bias=fields.get("include_qkv_bias") or False,
        rope_float32=fields.get("rope_full_precision", True),
    )


def hf_decoder(fields: Fields, *, qkv_bias: bool, max_positions: int = 32768) -> DecoderConfig:
    """The decoder of a config.json in the words of transformers; the defaults are those of the reference's config.

    Raises `ConfigError` for an option the decoder does not have, `KeyError` for a missing size.
    """
    _only(fields, _HF_ONLY)
    sections = _sections(fields)
    return DecoderConfig(
        hidden_size=fields["hidden_size"],
        layers=fields["num_hidden_layers"],
        heads=fields["num_attention_heads"],
        kv_heads=fields.get("num_key_value_heads") or fields["num_attention_heads"],
        mlp_size=fields["intermediate_size"],
        vocab_size=fields["vocab_size"],
        rope_theta=fields.get("rope_theta", 10000.0),
        norm_eps=fields.get("rms_norm_eps", 1e-6),
        max_positions=fields.get("max_position_embeddings", max_positions),
        qkv_bias=qkv_bias,
        rope_sections=sections,
        rope_float32=False,
    )


def _sections(fields: Fields) -> tuple[int, ...]:
    scaling = fields.get("rope_scaling") or {}
    kind = scaling.get("rope_type", scaling.get("type", "default"))
    if kind not in ("default", "mrope"):
        raise ConfigError(f"config.json asks for rope_scaling {kind!r}, which is not supported", field="rope_scaling")
    sections = tuple(fields.get("mrope_section") or scaling.get("mrope_section") or ())
    half = fields["hidden_size"] // fields["num_attention_heads"] // 2
    if sections and (len(sections) != 3 or sum(sections) != half):
        text = f"mrope_section {list(sections)} must be three numbers that sum to {half}"
        raise ConfigError(text, field="mrope_section")
    return sections


def _only(fields: Fields, allowed: Mapping[str, tuple[Any, ...]]) -> None:
    """Refuse what would load and then compute something else. A missing or null field is the default, which is fine."""
    for name, values in allowed.items():
        value = fields.get(name)
        if value is not None and value not in values:
            raise ConfigError(f"config.json says {name} is {value!r}; supported: {values[0]!r}", field=name)
