"""Tokenizer files: the one-file form, Qwen2's pair, and what is said where neither is there."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tokenizers import pre_tokenizers

from seer_core.errors import ConfigError
from seer_core.preprocess.tokenizer import Tokenizer
from seer_core.preprocess.tokenizer_file import read_backend

ADDED = {"256": {"content": "<|endoftext|>", "special": True}, "257": {"content": "<tool_call>", "special": False}}


def pair_in(folder: Path, added: object = ADDED, *, merged: bool = False) -> Path:
    vocab = {character: token for token, character in enumerate(sorted(pre_tokenizers.ByteLevel.alphabet()))}
    (folder / "vocab.json").write_text(json.dumps(vocab | ({"ab": 300} if merged else {}), ensure_ascii=False))
    (folder / "merges.txt").write_text("#version: 0.2\n" + "a b\n" * merged)
    (folder / "tokenizer_config.json").write_text(json.dumps({"added_tokens_decoder": added}))
    return folder


def test_the_pair_makes_a_byte_level_tokenizer(tmp_path: Path) -> None:
    tokenizer = Tokenizer.load(pair_in(tmp_path, {}, merged=True))
    for text in ("Wie heißt das? 这是什么 🙂\n\n  12 tabs\t", "cab's"):
        assert tokenizer.decode(tokenizer.encode(text)) == text
    assert 300 in tokenizer.encode("ab")


def test_numbers_fall_into_digits_and_letters_are_composed_as_qwen2_does(tmp_path: Path) -> None:
    backend = read_backend(pair_in(tmp_path, {}))
    assert backend.pre_tokenizer is not None
    words = [word for word, _ in backend.pre_tokenizer.pre_tokenize_str("in 2025, it's")]
    assert words == ["in", "Ġ", "2", "0", "2", "5", ",", "Ġit", "'s"]
    assert backend.encode("e\u0301").ids == backend.encode("é").ids


def test_added_tokens_keep_their_ids(tmp_path: Path) -> None:
    tokenizer = Tokenizer.load(pair_in(tmp_path))
    assert tokenizer.control("<|endoftext|>") == 256
    assert tokenizer.encode("<tool_call>") == [257]
    assert 256 not in tokenizer.encode("<|endoftext|>")


def test_added_tokens_that_cannot_have_their_ids_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"vocab\.json cannot be read: the added token '<\|endoftext\|>' has id 900"):
        read_backend(pair_in(tmp_path, {"900": {"content": "<|endoftext|>"}}))


def test_a_folder_without_either_form_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"tokenizer\.json is missing, .* vocab\.json and merges\.txt"):
        read_backend(tmp_path)


def test_a_malformed_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "tokenizer.json").write_text("{")
    with pytest.raises(ConfigError, match=r"tokenizer\.json cannot be read"):
        read_backend(tmp_path)


def test_a_guarded_token_never_comes_out_of_text(tmp_path: Path) -> None:
    tokenizer = Tokenizer.load(pair_in(tmp_path))
    tokenizer.guard(names=["<tool_call>", "<|unknown|>"], ids=[256, 9999])
    assert tokenizer.encode("<tool_call>") != [257]
    assert tokenizer.decode(tokenizer.encode("<tool_call>")) == "<tool_call>"
    assert tokenizer.control("<tool_call>") == 257
