"""The question that a command's options ask."""

from __future__ import annotations

import argparse
from pathlib import Path

from seer_core.errors import ConfigError
from seer_core.types import Decoding, GenerationRequest, Message, Sampling


def request_of(options: argparse.Namespace) -> GenerationRequest:
    """One user turn; what a command has no option for keeps its default. Raises `ConfigError` as `read_image`."""
    images = tuple(map(read_image, options.image))
    return GenerationRequest(
        id="cli",
        messages=(Message(role="user", text=options.prompt, images=images),),
        sampling=Sampling(
            max_tokens=options.max_tokens,
            temperature=getattr(options, "temperature", 0.0),
            seed=getattr(options, "seed", 0),
            stop=tuple(getattr(options, "stop", ())),
        ),
        decoding=Decoding(
            detector=options.detector,
            truncate=not getattr(options, "no_truncate", False),
            steps_per_token=getattr(options, "steps_per_token", 1.0),
            block_length=options.block_length,
            remasking=getattr(options, "remasking", None),
            schedule=getattr(options, "schedule", None),
            commit=getattr(options, "commit", None),
            commit_threshold=getattr(options, "commit_threshold", None),
            commit_factor=getattr(options, "commit_factor", 1.0),
            cache=getattr(options, "cache", "exact"),
            guidance_scale=getattr(options, "guidance_scale", 0.0),
        ),
    )


def read_image(path: Path) -> bytes:
    """The file's bytes; raises `ConfigError` where it cannot be read."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise ConfigError(f"the image {path} cannot be read: {error.strerror}", field="image") from error
