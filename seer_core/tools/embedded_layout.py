"""The embedded model's checkpoint folder in LaViDa-LLaDA's layout: its config, its tokenizer, its tensor names."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file
from torch import Tensor

from seer_core.embedded.vocabulary import SYSTEM, build_tokenizer
from seer_core.families.lavida import LAVIDA_LLADA

TOWER = {
    "hidden_size": 96,
    "intermediate_size": 256,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "num_channels": 3,
    "image_size": 48,
    "patch_size": 6,
    "hidden_act": "gelu_pytorch_tanh",
    "layer_norm_eps": 1e-6,
    "attention_dropout": 0.0,
}


def write_skeleton(folder: Path) -> None:
    """config.json, tokenizer.json and the tower's config: all of the checkpoint but its weights."""
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer = build_tokenizer()
    tokenizer.save(str(folder / "tokenizer.json"))
    (folder / "siglip-tiny").mkdir(exist_ok=True)
    tower = {"model_type": "siglip", "vision_config": {"model_type": "siglip_vision_model", **TOWER}}
    (folder / "siglip-tiny" / "config.json").write_text(json.dumps(tower, indent=2) + "\n")
    config = skeleton_config(tokenizer.get_vocab())
    (folder / "config.json").write_text(json.dumps(config, indent=2) + "\n")
    empty = {name: torch.zeros(1) for name in LAVIDA_LLADA.present}
    save_file(empty, folder / "model.safetensors", metadata={"format": "pt"})


def skeleton_config(ids: dict[str, int]) -> dict[str, Any]:
    """The fields of a LaViDa-LLaDA config.json, with this model's sizes and ids."""
    fill = ids["<|endoftext|>"]
    vocab = -(-len(ids) // 64) * 64
    return {
        "architectures": ["LlavaLladaForMaskedDiffusion"],
        "model_type": "llava_llada",
        "d_model": 128,
        "n_heads": 4,
        "n_kv_heads": 4,
        "n_layers": 8,
        "mlp_hidden_size": 512,
        "activation_type": "silu",
        "rms_norm_eps": 1e-5,
        "rope_theta": 10000.0,
        "max_sequence_length": 1024,
        "include_bias": False,
        "include_qkv_bias": False,
        "vocab_size": vocab,
        "embedding_size": vocab,
        "weight_tying": False,
        "eos_token_id": fill,
        "pad_token_id": fill,
        "mask_token_id": ids["<|mdm_mask|>"],
        "mm_vision_tower": "siglip-tiny",
        "mm_hidden_size": TOWER["hidden_size"],
        "mm_projector_type": "mlp2x_gelu",
        "mm_patch_merge_type": "spatial_unpad",
        "mm_spatial_pool_mode": "bilinear",
        "mm_spatial_pool_stride": 2,
        "mm_newline_position": "grid",
        "image_aspect_ratio": "anyres",
        "image_grid_pinpoints": [[48, 96], [96, 48], [96, 96]],
        "torch_dtype": "float32",
        "seer": {
            "default_system": SYSTEM,
            "turn_end_id": ids["<|eot_id|>"],
            "min_images": 1,
            "max_images": 1,
        },
    }


def write_weights(folder: Path, state: dict[str, Tensor]) -> None:
    """Save under the family's own names; the newline is rounded as the family's reference rounds it."""
    named = {checkpoint_name(name): value.contiguous() for name, value in state.items()}
    named["model.image_newline"] = named["model.image_newline"].bfloat16().float()
    save_file(named, folder / "model.safetensors", metadata={"format": "pt"})


def checkpoint_name(place: str) -> str:
    """A place in `VisionLanguageModel` -> its tensor name in a LaViDa-LLaDA checkpoint."""
    block = {
        "attention_norm": "attn_norm",
        "mlp_norm": "ff_norm",
        "attention.q_proj": "q_proj",
        "attention.k_proj": "k_proj",
        "attention.v_proj": "v_proj",
        "attention.o_proj": "attn_out",
        "mlp.gate_proj": "ff_proj",
        "mlp.up_proj": "up_proj",
        "mlp.down_proj": "ff_out",
    }
    outer = {
        "decoder.embedding.weight": "model.transformer.wte.weight",
        "decoder.norm.weight": "model.transformer.ln_f.weight",
        "decoder.head.weight": "model.transformer.ff_out.weight",
        "newline": "model.image_newline",
    }
    if place in outer:
        return outer[place]
    if place.startswith("decoder.blocks."):
        _, _, layer, rest = place.split(".", 3)
        return f"model.transformer.blocks.{layer}.{block[rest.removesuffix('.weight')]}.weight"
    tower = "model.vision_tower.vision_tower.vision_model."
    return place.replace("tower.vision_model.", tower) if place.startswith("tower.") else f"model.mm_{place}"
