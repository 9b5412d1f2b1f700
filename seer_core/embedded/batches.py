"""Training batches: prompts prepared as in service, and canvases with holes.

Legend: B scenes, R canvases per scene, N canvas length, n ids of a prompt.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from seer_core.embedded.scenes import Sample, draw_sample, render
from seer_core.errors import ConfigError
from seer_core.preprocess.processor import Processor
from seer_core.prompt import ImageViews
from seer_core.types import Message, TokenRoles

Ints = NDArray[np.int64]
Floats = NDArray[np.float32]

FILL_WEIGHT = 0.25
FILL_TOTAL = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """`prompts` are token ids with one image placeholder each; `canvas` [B * R, N] has holes, `target` has none.

    `weight` [B * R, N] is positive at the holes and zero elsewhere.
    """

    prompts: list[Ints]
    images: list[ImageViews]
    canvas: Ints
    target: Ints
    weight: Floats


class BatchMaker:
    """Draws batch `step` of a run; the same seed and step give the same batch."""

    def __init__(self, processor: Processor, roles: TokenRoles, turn_end_id: int, *, seed: int) -> None:
        self.processor, self.roles, self.turn_end_id, self.seed = processor, roles, turn_end_id, seed

    def make(self, step: int, *, scenes: int, canvases: int) -> Batch:
        """One batch of `scenes` prompts with `canvases` canvases each; all canvases have the same length."""
        rng = np.random.default_rng((self.seed, step))
        length = canvas_length(rng)
        samples = [self._sample(rng, length) for _ in range(scenes)]
        targets = np.stack([self._target(sample, length) for sample in samples for _ in range(canvases)])
        holes = np.stack([draw_holes(rng, length) for _ in targets])
        prompts = [self._prompt(rng, sample) for sample in samples]
        return Batch(
            prompts=[ids for ids, _ in prompts],
            images=[views for _, views in prompts],
            canvas=np.where(holes, self.roles.mask_id, targets),
            target=targets,
            weight=hole_weights(targets, holes, self.roles.fill_id),
        )

    def _sample(self, rng: np.random.Generator, length: int) -> Sample:
        """A sample; where the canvas can cut answers it does so in two of five cases, and one in 20 fills it."""
        draw = rng.random()
        for _ in range(40):
            sample = draw_sample(rng)
            size = len(self.processor.tokenizer.encode(sample.answer))
            if draw < 0.4 and length < 60:
                fits = size > length
            else:
                fits = size == length if draw > 0.95 and length <= 30 else size <= length
            if fits:
                return sample
        return sample

    def _target(self, sample: Sample, length: int) -> Ints:
        ids = [*self.processor.tokenizer.encode(sample.answer), self.turn_end_id][:length]
        return np.asarray(ids + [self.roles.fill_id] * (length - len(ids)), dtype=np.int64)

    def _prompt(self, rng: np.random.Generator, sample: Sample) -> tuple[Ints, ImageViews]:
        views = self.processor.image(render(sample.scene, rng))
        if not isinstance(views, ImageViews):
            raise ConfigError("the recipe trains a model that takes images in tiles")
        # The picture is already decoded: only its place in the conversation is asked for here.
        message = Message(role="user", text=sample.prompt, images=(b"",))
        ids = [token for part in self.processor.template.parts([message]) for token in self.processor.ids(part)]
        return np.asarray(ids, dtype=np.int64), views


def canvas_length(rng: np.random.Generator) -> int:
    """8 to 256 tokens, most of them short, where there is most to learn."""
    draw = rng.random()
    if draw < 0.75:
        return int(rng.integers(8, 73))
    return int(rng.integers(64, 129)) if draw < 0.93 else int(rng.integers(128, 257))


def draw_holes(rng: np.random.Generator, length: int) -> NDArray[np.bool_]:
    """Where the canvas is masked: everywhere (step 0), at random, or behind a committed start (a grown canvas)."""
    draw = rng.random()
    if draw < 0.4:
        return np.ones(length, dtype=np.bool_)
    if draw < 0.85:
        holes = rng.random(length) < rng.uniform(0.05, 1.0)
    else:
        holes = np.arange(length) >= rng.integers(0, length)
    holes[rng.integers(length)] = True
    return holes


def hole_weights(target: Ints, holes: NDArray[np.bool_], fill_id: int) -> Floats:
    """Weights [rows, N]: 1 on the answer and its end, little on the fill, and no long answer drowns the short ones."""
    fill = (target == fill_id) & holes
    answer = (target != fill_id) & holes
    each = np.minimum(FILL_WEIGHT, FILL_TOTAL / np.maximum(fill.sum(1, keepdims=True), 1))
    weight: Floats = np.where(fill, each, answer).astype(np.float32)
    total = weight.sum(1, keepdims=True)
    scaled: Floats = weight / np.maximum(total, np.float32(1.0)) ** np.float32(0.75)
    return scaled
