"""The data: what the issue of length needs is in it, and every answer is true of its picture."""

from __future__ import annotations

import re

import numpy as np
import pytest

from seer_core.embedded.scenes import HEIGHT_PX, WEIGHTS, WIDTH_PX, Kind, Sample, Scene, draw_sample, render
from seer_core.embedded.vocabulary import build_tokenizer

COUNT = 2000


@pytest.fixture(scope="module")
def samples() -> list[Sample]:
    return [draw_sample(np.random.default_rng((7, index))) for index in range(COUNT)]


@pytest.fixture(scope="module")
def lengths(samples: list[Sample]) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    tokenizer = build_tokenizer()
    return np.array([len(tokenizer.encode(sample.answer).ids) for sample in samples])


def test_answers_are_of_all_lengths(lengths: np.ndarray[tuple[int], np.dtype[np.int64]]) -> None:
    assert {0, 1} <= set(lengths.tolist())
    assert lengths.max() == 60
    assert lengths.mean() >= 16
    assert (lengths >= 24).mean() >= 0.2


def test_half_the_questions_have_a_length_that_depends_on_the_image(samples: list[Sample]) -> None:
    by_prompt: dict[str, set[int]] = {}
    for sample in samples:
        by_prompt.setdefault(sample.prompt, set()).add(len(sample.answer.split()) + len(sample.answer))
    assert np.mean([len(by_prompt[sample.prompt]) > 1 for sample in samples]) >= 0.5


def test_the_same_seed_gives_the_same_sample_and_picture() -> None:
    first, second = (np.random.default_rng(5) for _ in range(2))
    one, two = draw_sample(first), draw_sample(second)
    assert one == two
    assert render(one.scene, first).tobytes() == render(two.scene, second).tobytes()


@pytest.mark.parametrize("kind", WEIGHTS)
def test_answers_are_true_of_the_scene(kind: Kind) -> None:
    rng = np.random.default_rng(3)
    for _ in range(100):
        sample = draw_sample(rng, kind)
        assert sample.answer == told_again(sample), sample


def told_again(sample: Sample) -> str:
    """The answer worked out a second way, from the question's words."""
    shapes, prompt = [" ".join(pair) for pair in sample.scene.shapes], sample.prompt
    if prompt.startswith("Is there a"):
        return "yes" if (shapes if "shape" in prompt else sample.scene.digits) else "no"
    if "digits" in prompt:
        return sample.scene.digits
    if prompt.startswith("How many"):
        return str(len(shapes))
    if found := re.fullmatch(r"What is shape (\d)\?", prompt):
        place = int(found[1])
        return f"a {shapes[place - 1]}" if place <= len(shapes) else "none"
    if prompt.startswith("Describe"):
        told = [f"Shape {n + 1} is a {shape}." for n, shape in enumerate(shapes)]
        return " ".join([f"I see {len(shapes)}.", *told])
    return ", ".join(shapes)


def test_pictures_have_one_size_and_an_empty_scene_is_blank_paper() -> None:
    image = render(Scene(), np.random.default_rng(0))
    assert image.size == (WIDTH_PX, HEIGHT_PX)
    assert image.getcolors(1) is not None


def test_every_word_of_the_scenes_is_one_token() -> None:
    tokenizer = build_tokenizer()
    text = "I see 8. Shape 1 is a purple diamond."
    assert len(tokenizer.encode(text).ids) == 11
