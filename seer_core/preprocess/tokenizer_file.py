"""A checkpoint's tokenizer files to a `tokenizers` back-end.

Most folders hold a `tokenizer.json`. Dream's hold Qwen2's older pair, `vocab.json` and `merges.txt`, beside a tokenizer
class in Python, which is never run: the pair and the added tokens in `tokenizer_config.json` say all it knows.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tokenizers import AddedToken, Regex, Tokenizer, decoders, normalizers, pre_tokenizers
from tokenizers.models import BPE

from seer_core.errors import ConfigError

FILE = "tokenizer.json"
PAIR = ("vocab.json", "merges.txt")

QWEN2_WORDS = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)


def read_backend(folder: Path) -> Tokenizer:
    """The tokenizer of a folder; raises `ConfigError` where its files are missing or malformed."""
    path = folder / FILE
    try:
        if path.exists():
            return Tokenizer.from_file(str(path))
        path = folder / PAIR[0]
        if all((folder / name).exists() for name in PAIR):
            return _from_pair(folder)
    except Exception as error:  # the back-end raises bare exceptions
        raise ConfigError(f"{path} cannot be read: {error}") from error
    raise ConfigError(f"{folder / FILE} is missing, and so is the pair {' and '.join(PAIR)}")


def _from_pair(folder: Path) -> Tokenizer:
    vocab, merges = BPE.read_file(*(str(folder / name) for name in PAIR))
    tokenizer = Tokenizer(BPE(vocab, merges))
    tokenizer.normalizer = normalizers.NFC()
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(QWEN2_WORDS), behavior="isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    tokenizer.decoder = decoders.ByteLevel()
    for token, entry in sorted(_added(folder).items()):
        added = AddedToken(entry["content"], special=entry.get("special", True), normalized=False)
        # Ids are handed out in order, so a file with gaps would put tokens in wrong places.
        tokenizer.add_tokens([added])
        if tokenizer.token_to_id(entry["content"]) != token:
            raise ValueError(f"the added token {entry['content']!r} has id {token}, which is not the next free one")
    return tokenizer


def _added(folder: Path) -> dict[int, dict[str, Any]]:
    config = folder / "tokenizer_config.json"
    fields = json.loads(config.read_text()) if config.exists() else {}
    stated = fields.get("added_tokens_decoder")
    if stated is not None:
        return {int(token): entry for token, entry in stated.items()}
    plain = folder / "added_tokens.json"
    names = json.loads(plain.read_text()) if plain.exists() else {}
    return {int(token): {"content": name} for name, token in names.items()}
