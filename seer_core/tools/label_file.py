"""Where the answers of untruncated runs end, kept on disk: these runs are most of the time that a study takes.

Knows neither what is studied nor how the runs are made.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np

from seer_core.errors import ConfigError
from seer_core.tools.digest import digest
from seer_core.tools.labelled import Labelled, self_label
from seer_core.tools.scores import Truth
from seer_core.tools.stages import Stages
from seer_core.types import GenerationRequest


def label_once(
    stages: Stages, requests: Sequence[GenerationRequest], path: Path | None, *, batch_rows: int, progress: bool = True
) -> Labelled:
    """The requests with their labels, from `path` where it holds them; else they are made, and kept there.

    Raises `ConfigError` where `path` holds the labels of another checkpoint, dtype or loop, or of other requests.
    """
    if path is None:
        return self_label(stages, requests, batch_rows=batch_rows, progress=progress)
    of = _origin(stages, requests)
    if path.exists():
        canvas = np.array([request.sampling.max_tokens for request in requests])
        return Labelled(prompts=stages.encode(requests), truth=Truth(canvas=canvas, end=_ends(path, of)))
    path.parent.mkdir(parents=True, exist_ok=True)  # before the long part, not behind it
    labelled = self_label(stages, requests, batch_rows=batch_rows, progress=progress)
    half = path.with_name(f"{path.name}.part")  # a kill leaves no half of a file under the name
    half.write_text(json.dumps({"of": of, "end": labelled.truth.end.tolist()}) + "\n")
    half.replace(path)
    return labelled


def _ends(path: Path, of: str) -> np.ndarray[Any, np.dtype[np.int64]]:
    try:
        held = json.loads(path.read_text())
        found, ends = held["of"], np.array(held["end"], np.int64)
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise ConfigError(f"{path} holds no labels: {error!r}", field="ends") from error
    if found != of:
        raise ConfigError(
            f"{path} holds the labels of another checkpoint, dtype or loop, or of other rows", field="ends"
        )
    return ends


def _origin(stages: Stages, requests: Sequence[GenerationRequest]) -> str:
    """A name for the weights, their dtype, the loop, the questions and the canvases together."""
    probe = stages.probe
    facts = (probe.profile.fingerprint, str(probe.model.decoder.embedding.weight.dtype), digest(probe.loop))
    name = blake2b(repr(facts).encode(), digest_size=8)
    for request in requests:
        name.update(repr((request.sampling.max_tokens, [message.text for message in request.messages])).encode())
        for message in request.messages:
            for image in message.images:
                name.update(image)
    return name.hexdigest()
