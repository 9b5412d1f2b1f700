from __future__ import annotations

import numpy as np

from seer_core.embedded import CHECKPOINT
from seer_core.preprocess.tokenizer import Tokenizer
from seer_core.tools.scenes import LENGTH_DEPENDS, published_samples, scene_samples


def test_the_published_mix_has_the_lengths_it_states() -> None:
    samples = published_samples(400)
    tokenizer = Tokenizer.load(CHECKPOINT)
    tokens = [len(tokenizer.encode(sample.answer)) for sample in samples]
    assert (min(tokens), max(tokens) <= 60) == (1, True)
    assert np.mean(tokens) >= 16
    assert sum(sample.kind in LENGTH_DEPENDS for sample in samples) == 200


def test_a_published_sample_is_the_same_however_many_are_drawn() -> None:
    assert published_samples(3) == published_samples(120)[:3]


def test_published_questions_are_none_of_the_held_out_ones() -> None:
    assert {sample.image for sample in published_samples(20)}.isdisjoint(sample.image for sample in scene_samples(20))
