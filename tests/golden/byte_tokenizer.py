"""A byte-level tokenizer.json for a golden checkpoint: 256 bytes, and the family's special tokens at their real ids."""

from __future__ import annotations

import json
from pathlib import Path

from tokenizers import pre_tokenizers

LLADA = {
    "<|startoftext|>": 126080,
    "<|endoftext|>": 126081,
    "<|mdm_mask|>": 126336,
    "<role>": 126340,
    "</role>": 126341,
    "<|start_header_id|>": 126346,
    "<|end_header_id|>": 126347,
    "<|eot_id|>": 126348,
}
QWEN = {
    "<|endoftext|>": 151643,
    "<|im_start|>": 151644,
    "<|im_end|>": 151645,
    "<|vision_start|>": 151652,
    "<|vision_end|>": 151653,
    "<|image_pad|>": 151655,
    "<|video_pad|>": 151656,
    "<|mask|>": 151666,
}
SPECIALS = {
    "lavida_llada": LLADA,
    "lavida_dream": QWEN,
    "llada_v": LLADA,
    "mmada": LLADA,
    "dimple": QWEN,
    "llada": LLADA,
    "dream": QWEN,
}
BYTE_LEVEL = {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True}


def write_tokenizer(family: str, folder: Path) -> None:
    """Write `folder`/tokenizer.json."""
    specials = SPECIALS[family]
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    vocab = {character: token for token, character in enumerate(alphabet)} | specials
    flags = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
    (folder / "tokenizer.json").write_text(
        json.dumps(
            {
                "version": "1.0",
                "added_tokens": [{"id": token, "content": name, **flags} for name, token in specials.items()],
                "pre_tokenizer": {**BYTE_LEVEL, "add_prefix_space": False, "use_regex": False},
                "decoder": BYTE_LEVEL,
                "model": {"type": "BPE", "vocab": vocab, "merges": []},
            }
        )
    )
