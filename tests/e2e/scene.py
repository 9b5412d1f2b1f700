"""A question the embedded model knows, as the clients send it, and the answer the pipeline gives in this process."""

from __future__ import annotations

import base64
import io
from functools import cache

import numpy as np

from seer_core.embedded.scenes import draw_sample, render
from seer_core.types import GenerationRequest, Message, Outcome, Sampling

MAX_TOKENS = 48


@cache
def question() -> tuple[bytes, str]:
    """A PNG and a prompt."""
    rng = np.random.default_rng(7)
    sample = draw_sample(rng, "list")
    buffer = io.BytesIO()
    render(sample.scene, rng).save(buffer, "PNG")
    return buffer.getvalue(), sample.prompt


@cache
def expected() -> Outcome:
    """The reference: one process, no server."""
    from seer_core.pipeline import Pipeline

    image, prompt = question()
    message = Message(role="user", text=prompt, images=(image,))
    request = GenerationRequest(id="e2e", messages=(message,), sampling=Sampling(max_tokens=MAX_TOKENS))
    (outcome,) = Pipeline.load().generate([request])
    return outcome


def data_url(image: bytes) -> str:
    return "data:image/png;base64," + base64.b64encode(image).decode()
