"""LaViDa over LLaDA: original LLaDA key names, SigLIP views pooled 2x2, LLaVA any-resolution tiles, prefix-LM cache.

Source of the facts: repository jacklishufan/LaViDa (commit 284ef5c).
"""

from __future__ import annotations

import ast

from seer_core.config import DecoderConfig
from seer_core.families.family import Family, Fields
from seer_core.preprocess.image import Tiling
from seer_core.preprocess.template import HeaderTemplate

_BLOCK = r"model\.transformer\.blocks\.(\d+)\."
_TOWER = r"model\.vision_tower\.vision_tower\.vision_model\."

NAMES: tuple[tuple[str, str], ...] = (
    (r"model\.transformer\.wte\.weight", r"decoder.embedding.weight"),
    (_BLOCK + r"attn_norm\.weight", r"decoder.blocks.\1.attention_norm.weight"),
    (_BLOCK + r"ff_norm\.weight", r"decoder.blocks.\1.mlp_norm.weight"),
    (_BLOCK + r"([qkv])_proj\.weight", r"decoder.blocks.\1.attention.\2_proj.weight"),
    (_BLOCK + r"attn_out\.weight", r"decoder.blocks.\1.attention.o_proj.weight"),
    (_BLOCK + r"ff_proj\.weight", r"decoder.blocks.\1.mlp.gate_proj.weight"),
    (_BLOCK + r"up_proj\.weight", r"decoder.blocks.\1.mlp.up_proj.weight"),
    (_BLOCK + r"ff_out\.weight", r"decoder.blocks.\1.mlp.down_proj.weight"),
    (r"model\.transformer\.ln_f\.weight", r"decoder.norm.weight"),
    (r"model\.transformer\.ff_out\.weight", r"decoder.head.weight"),
    (r"model\.image_newline", r"newline"),
    (r"model\.mm_projector\.(\d)\.(weight|bias)", r"projector.\1.\2"),
    (_TOWER + r"(.+)", r"tower.vision_model.\1"),
)

SYSTEM = (
    "You are a helpful language and vision assistant. You are able to understand the visual content that the user "
    "provides, and assist the user with a variety of tasks using natural language."
)


def _decoder(fields: Fields) -> DecoderConfig:
    return DecoderConfig(
        hidden_size=fields["d_model"],
        layers=fields["n_layers"],
        heads=fields["n_heads"],
        kv_heads=fields.get("n_kv_heads") or fields["n_heads"],
        mlp_size=fields["mlp_hidden_size"],
        vocab_size=fields["embedding_size"],
        rope_theta=fields["rope_theta"],
        norm_eps=fields.get("rms_norm_eps", 1e-5),
        max_positions=fields["max_sequence_length"],
        qkv_bias=fields["include_qkv_bias"],
    )


def _tiling(fields: Fields, vision: Fields) -> Tiling:
    grid = fields["image_grid_pinpoints"]
    canvases = ast.literal_eval(grid) if isinstance(grid, str) else grid
    patches = vision["image_size"] // vision["patch_size"]
    return Tiling(
        tile_px=vision["image_size"],
        canvases_px=tuple((width, height) for width, height in canvases),
        side_tokens=-(-patches // 2),
    )


LAVIDA_LLADA = Family(
    name="lavida_llada",
    marker="model.transformer.blocks.0.ff_proj.weight",
    architectures=("LlavaLladaForMaskedDiffusion",),
    names=NAMES,
    template=HeaderTemplate(
        begin="<|startoftext|>",
        header="<|start_header_id|>",
        header_end="<|end_header_id|>",
        turn_end="<|eot_id|>",
        default_system=SYSTEM,
    ),
    turn_end_id=126348,
    placeholder_id=-200,
    prefix_lm=True,
    newline_bfloat16=True,
    block_length=128,
    decoder=_decoder,
    tiling=_tiling,
)
