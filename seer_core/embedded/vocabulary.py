"""The embedded model's tokenizer: byte-level BPE in which every word of the scenes is one token.

Any other text falls apart into bytes, so nothing a user types is unknown.
"""

from __future__ import annotations

import numpy as np
from tokenizers import AddedToken, Regex, Tokenizer, decoders, pre_tokenizers
from tokenizers.models import BPE
from tokenizers.trainers import BpeTrainer

from seer_core.embedded.scenes import WEIGHTS, Kind, draw_sample

SYSTEM = "Look and answer."
CONTROLS = (
    "<|startoftext|>",
    "<|endoftext|>",
    "<|start_header_id|>",
    "<|end_header_id|>",
    "<|eot_id|>",
    "<|mdm_mask|>",
)
# One word, one digit or one sign at a time, each with the space before it.
WORDS = r" ?\p{L}+| ?\p{N}|[^\s\p{L}\p{N}]|\s"


def build_tokenizer(seed: int = 0) -> Tokenizer:
    """Train the tokenizer on sample questions and answers; control tokens take the last ids."""
    tokenizer = Tokenizer(BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(WORDS), behavior="isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    tokenizer.decoder = decoders.ByteLevel()
    trainer = BpeTrainer(
        vocab_size=1024, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), min_frequency=1, show_progress=False
    )
    tokenizer.train_from_iterator(_corpus(seed), trainer)
    tokenizer.add_special_tokens([AddedToken(name, special=True, normalized=False) for name in CONTROLS])
    return tokenizer


def _corpus(seed: int) -> list[str]:
    rng = np.random.default_rng(seed)
    kinds: list[Kind] = [kind for kind in WEIGHTS for _ in range(300)]
    samples = [draw_sample(rng, kind) for kind in kinds]
    roles = ["system", "user", "assistant", SYSTEM]
    return [text for sample in samples for text in (sample.prompt, sample.answer)] + roles * 50
