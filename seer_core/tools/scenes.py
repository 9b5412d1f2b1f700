"""The embedded model's scenes as work for the tools: samples to score, requests to calibrate on.

Held-out scenes come from other seeds than any training batch.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType

import numpy as np
from PIL import Image

from seer_core.embedded.scenes import Kind, draw_sample, render
from seer_core.tools.evaluate import Sample
from seer_core.types import GenerationRequest, Message, Sampling

HELD_OUT_SEED = 1_000_003
CALIBRATION_SEED = 2_000_003
PUBLISHED_SEED = 3_000_017

PUBLISHED_SHARES: Mapping[Kind, int] = MappingProxyType(
    {"detail": 44, "digits": 3, "list": 3, "count": 16, "which": 16, "exists": 18}
)
"""Of 100 questions; the first three kinds, half of them, have answers whose length depends on the image."""

LENGTH_DEPENDS: tuple[Kind, ...] = ("detail", "digits", "list")


def scene_samples(count: int, *, seed: int = HELD_OUT_SEED) -> list[Sample]:
    """`count` random questions about random scenes; sample i is the same for every count."""
    return [_sample(np.random.default_rng((seed, index))) for index in range(count)]


def published_samples(count: int) -> list[Sample]:
    """The mix that published numbers are made on: answers of 1 to 60 tokens, 16 on average over a few hundred.

    Half of the questions have a length that depends on the image. Kinds come shuffled, a hundred at a time, so that any
    hundred in a row has the same shares; sample i is the same for every count.
    """
    kinds = [kind for kind, share in PUBLISHED_SHARES.items() for _ in range(share)]
    orders = [np.random.default_rng((PUBLISHED_SEED, 0, part)).permutation(100) for part in range(-(-count // 100))]
    return [_published(index, kinds[orders[index // 100][index % 100]]) for index in range(count)]


def calibration_requests(samples: Iterable[Sample], canvases: Sequence[int]) -> list[GenerationRequest]:
    """The samples' questions with `canvases` in turn."""
    return [
        GenerationRequest(
            id=f"calibrate-{index}",
            messages=(Message(role="user", text=sample.prompt, images=(sample.image,)),),
            sampling=Sampling(max_tokens=canvases[index % len(canvases)]),
        )
        for index, sample in enumerate(samples)
    ]


def encode_png(image: Image.Image) -> bytes:
    """The picture as a PNG file."""
    data = io.BytesIO()
    image.save(data, "PNG")
    return data.getvalue()


def _published(index: int, kind: Kind) -> Sample:
    """A question that has an answer: an empty picture has nothing to list."""
    attempt = 0
    while True:
        sample = _sample(np.random.default_rng((PUBLISHED_SEED, 1, index, attempt)), kind)
        if sample.answer:
            return sample
        attempt += 1


def _sample(rng: np.random.Generator, kind: Kind | None = None) -> Sample:
    drawn = draw_sample(rng, kind)
    image = encode_png(render(drawn.scene, rng))
    return Sample(image=image, prompt=drawn.prompt, answers=(drawn.answer,), kind=drawn.kind)
