"""The embedded model's scenes as work for the tools: samples to score, requests to calibrate on.

Held-out scenes come from other seeds than any training batch.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Sequence

import numpy as np
from PIL import Image

from seer_core.embedded.scenes import draw_sample, render
from seer_core.tools.evaluate import Sample
from seer_core.types import GenerationRequest, Message, Sampling

HELD_OUT_SEED = 1_000_003
CALIBRATION_SEED = 2_000_003


def scene_samples(count: int, *, seed: int = HELD_OUT_SEED) -> list[Sample]:
    """`count` random questions about random scenes; sample i is the same for every count."""
    return [_sample(np.random.default_rng((seed, index))) for index in range(count)]


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


def _sample(rng: np.random.Generator) -> Sample:
    drawn = draw_sample(rng)
    image = encode_png(render(drawn.scene, rng))
    return Sample(image=image, prompt=drawn.prompt, answers=(drawn.answer,), kind=drawn.kind)
