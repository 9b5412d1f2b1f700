"""What each detector sees at step 0, beside the ends of untruncated runs, and what it costs to look.

False cuts are counted on canvases without a boundary: the same questions with the canvas clamped to three quarters of
the right answer, so that the answer fills it.

Legend: R rows.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from tqdm import tqdm

from seer_core.pipeline import Pipeline
from seer_core.probe.cost import WHOLE_STEP
from seer_core.probe.detectors import DETECTORS, Detector, detector_named, foresee, holds
from seer_core.probe.profile import Profile
from seer_core.probe.statistic import Evidence
from seer_core.probe.window import first_look, settled, widened
from seer_core.prompt import EncodedPrompt
from seer_core.tools.evaluate import Sample
from seer_core.tools.rivals.cost_model import LARGE_PROMPT_TOKENS, LLADA_8B, Looks, at_depth, model_positions
from seer_core.tools.rivals.quality import requests_of
from seer_core.tools.scores import NO_BOUNDARY, Truth, kept, score, wilson_upper, work
from seer_core.tools.stages import batches
from seer_core.types import Decoding, Forecast

Row = dict[str, Any]

CLAMPED = 0.75
LEAST_TOKENS = 8
"""A clamped canvas is at least this long: a window of the sparsity's rule and something before it must fit."""

TIMED_ROUNDS = 3


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Looked:
    """What step 0 showed of every row, through the profile's window and whole, and on canvases without a boundary."""

    truth: Truth
    prompt_tokens: float
    first: Sequence[Evidence]
    seen: Sequence[Evidence]
    endless: Sequence[Evidence]


def bench_detectors(
    pipeline: Pipeline,
    samples: Sequence[Sample],
    ends: Mapping[int, Sequence[int | None]],
    *,
    batch_rows: int = 16,
    progress: bool = True,
) -> list[Row]:
    """One row per canvas and detector that the profile holds.

    `ends` are those of the untruncated runs of the first samples, by canvas; None where the canvas was full before one.
    """
    names = [name for name in DETECTORS if name != "none" and holds(pipeline.probe.profile, name)]
    prompts = [prompt for batch in batches(samples, batch_rows) for prompt in pipeline.encode(requests_of(batch, 1))]
    endless = _endless(pipeline, samples, prompts, batch_rows)
    rows: list[Row] = []
    for canvas, own in tqdm(ends.items(), "detectors", unit="canvas", disable=not progress):
        seen = _observe(pipeline, prompts[: len(own)], [canvas] * len(own), batch_rows)
        window = first_look(canvas, pipeline.probe.profile.window_tokens)
        first = seen if window == canvas else _observe(pipeline, prompts[: len(own)], [window] * len(own), batch_rows)
        truth = Truth(canvas=np.full(len(own), canvas), end=np.array([canvas if end is None else end for end in own]))
        timed = _timed(pipeline, prompts[:batch_rows], canvas, names)
        length = float(np.mean([prompt.length_tokens for prompt in prompts]))
        looked = Looked(truth=truth, prompt_tokens=length, first=first, seen=seen, endless=endless)
        rows += [{**_row(pipeline, looked, canvas, name), "probe_ms": timed[name]} for name in names]
    return rows


def _row(pipeline: Pipeline, looked: Looked, canvas: int, name: str) -> Row:
    profile = pipeline.probe.profile
    detector = detector_named(name, profile)
    cost = detector.cost(profile)
    found, looks = _foresee(detector, looked, canvas, profile)
    margin, truth = profile.margin_of(name), looked.truth
    boundaries = np.array([NO_BOUNDARY if one.boundary is None else one.boundary for one in found])
    scored = score(boundaries, truth, margin)
    cut = int((kept(boundaries, truth.canvas, margin) < truth.end).sum())
    here = pipeline.probe.model.decoder.config
    denoised = work(boundaries, truth, margin)
    large = (LLADA_8B, LARGE_PROMPT_TOKENS)
    false = sum(_cuts(foresee(detector, evidence, profile)) for evidence in looked.endless)
    return {
        "detector": name,
        "canvas": canvas,
        "rows": len(found),
        "layers": cost.layers_of(here.layers),
        "head": cost.head,
        "margin_tokens": margin,
        "detection_rate": scored.detection_rate,
        "boundary_mae_tokens": scored.mae_tokens,
        "over_truncation": scored.over_truncation,
        "over_truncation_wilson": wilson_upper(cut, len(found)),
        "lost_end": scored.lost_end,
        "kept_tokens": scored.kept_tokens,
        "probes": looks.times,
        "model_positions": model_positions(here, looked.prompt_tokens, cost, looks, denoised),
        "model_positions_keys_kept": model_positions(here, looked.prompt_tokens, cost, looks, denoised, keys_kept=True),
        "model_positions_llada_8b": model_positions(*large, cost, looks, denoised),
        "model_positions_llada_8b_keys_kept": model_positions(*large, cost, looks, denoised, keys_kept=True),
        "model_positions_llada_8b_same_depth": model_positions(*large, at_depth(cost, here, LLADA_8B), looks, denoised),
        "endless_rows": len(looked.endless),
        "false_cuts": false / len(looked.endless) if looked.endless else None,
        "false_cuts_wilson": wilson_upper(false, len(looked.endless)) if looked.endless else None,
    }


def _foresee(detector: Detector, looked: Looked, canvas: int, profile: Profile) -> tuple[list[Forecast], Looks]:
    """The forecasts, as the probe makes them, and what it looks at for them."""
    first = [foresee(detector, evidence, profile) for evidence in looked.first]
    stands = [settled(forecast, canvas) for forecast in first]
    again = [foresee(detector, evidence, profile) for evidence in looked.seen]
    margin = profile.margin_of(detector.name)
    found = [widened(one if ok else other, canvas, margin) for one, other, ok in zip(first, again, stands, strict=True)]
    share = 1 - float(np.mean(stands))
    return found, Looks(canvas_tokens=looked.first[0].canvas_tokens + share * canvas, times=1 + share)


def _endless(
    pipeline: Pipeline, samples: Sequence[Sample], prompts: Sequence[EncodedPrompt], batch_rows: int
) -> list[Evidence]:
    """Step 0 of canvases that the right answer more than fills."""
    encode = pipeline.processor.tokenizer.encode
    lengths = [int(CLAMPED * len(encode(sample.answer))) for sample in samples]
    chosen = [row for row, length in enumerate(lengths) if length >= LEAST_TOKENS]
    return _observe(pipeline, [prompts[row] for row in chosen], [lengths[row] for row in chosen], batch_rows)


def _observe(
    pipeline: Pipeline, prompts: Sequence[EncodedPrompt], canvases: Sequence[int], batch_rows: int
) -> list[Evidence]:
    seen: list[Evidence] = []
    for rows in batches(range(len(prompts)), batch_rows):
        own = [prompts[row] for row in rows]
        seen += pipeline.probe.observe(own, [canvases[row] for row in rows], WHOLE_STEP)
    return seen


def _timed(pipeline: Pipeline, prompts: Sequence[EncodedPrompt], canvas: int, names: Sequence[str]) -> dict[str, float]:
    """Milliseconds a row in one batch, the median of rounds in which the detectors take turns."""
    taken: dict[str, list[float]] = {name: [] for name in names}
    for name in [name for _ in range(TIMED_ROUNDS) for name in names]:
        start = time.perf_counter()
        pipeline.probe.forecast(prompts, [canvas] * len(prompts), [Decoding(detector=name)] * len(prompts))
        taken[name].append(1000 * (time.perf_counter() - start) / len(prompts))
    return {name: float(np.median(own)) for name, own in taken.items()}


def _cuts(forecast: Forecast) -> bool:
    return forecast.length_tokens < forecast.canvas_tokens
