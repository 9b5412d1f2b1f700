"""What each command does, once its options are parsed. Every one prints for people, or one JSON line."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from seer_core.errors import ConfigError
from seer_core.types import Decoding, GenerationRequest, Message, Outcome, Sampling

if TYPE_CHECKING:
    import numpy as np
    import torch
    from numpy.typing import NDArray

    from seer_core.pipeline import Pipeline
    from seer_core.tools.evaluate import Samples

Printed = dict[str, Any]

SCENES = 100
"""Drawn to be evaluated, where nobody says how many."""


def run_generate(options: argparse.Namespace) -> None:
    """One question, one answer."""
    request = _request(options)
    if options.json:
        _print_json(_outcome_fields(_pipeline(options).generate([request])[0]))
        return
    for delta in _pipeline(options).stream(request):
        if delta.error is not None:
            raise delta.error
        print(delta.text, end="", flush=True)
    print()


def run_probe(options: argparse.Namespace) -> None:
    """Step 0 only: the curve, the boundary and what would be kept."""
    pipeline = _pipeline(options)
    (prompt,) = pipeline.encode([_request(options)])
    seen = pipeline.probe.profile_curve(prompt, options.max_tokens, options.detector)
    if options.plot is not None:
        from seer_core.tools.plot import plot_curve

        plot_curve(seen, options.plot)
    found = seen.forecast
    fields: Printed = {
        "sparsity": _rounded(seen.evidence.sparsity),
        "centred": _rounded(seen.evidence.centred),
        "readout": _rounded(seen.evidence.scores),
        "end_probability": _rounded(seen.evidence.end_probability),
        "boundary": found.boundary,
        "jump": found.jump,
        "noise": found.noise,
        "snr": found.snr,
        "score": found.score,
        "kept_tokens": found.length_tokens,
        "canvas_tokens": found.canvas_tokens,
        "detector": found.detector,
    }
    if options.json:
        _print_json(fields)
    elif found.boundary is None:
        print(f"{found.detector} sees no end: all {found.canvas_tokens} positions are kept")
    else:
        kept = f"{found.length_tokens} of {found.canvas_tokens} positions are kept"
        print(f"{found.detector} sees the answer end at slot {found.boundary}: {kept}")


def run_evaluate(options: argparse.Namespace) -> None:
    """Held-out scenes, or a file's questions, with and without truncation."""
    from seer_core.tools.evaluate import evaluate
    from seer_core.tools.evaluation_file import EvaluationFile, settings_of

    samples, decoding = _samples(options), Decoding(detector=options.detector)
    pipeline = _pipeline(options)
    kept = None
    if options.out is not None:
        dtype = str(next(pipeline.probe.model.decoder.parameters()).dtype)
        profile = pipeline.probe.profile
        settings = settings_of(profile, canvas_tokens=options.canvas, decoding=decoding, dtype=dtype)
        kept = EvaluationFile(options.out, settings)
    _print_fields(options, evaluate(pipeline, samples, canvas_tokens=options.canvas, decoding=decoding, kept=kept))


def run_calibrate(options: argparse.Namespace) -> None:
    """A profile from the checkpoint's own untruncated runs on scenes."""
    from seer_core.families.registry import inspect
    from seer_core.pipeline import Pipeline
    from seer_core.probe.profile import Profile
    from seer_core.probe.profile_file import save_profile
    from seer_core.tools.calibrate import calibrate
    from seer_core.tools.calibration_file import write_report
    from seer_core.tools.scenes import CALIBRATION_SEED, calibration_requests

    # A profile that lies beside the weights may belong to others; what is fitted here needs none.
    blank = Profile(fingerprint=inspect(options.model).fingerprint())
    requests = calibration_requests(_samples(options, CALIBRATION_SEED), options.canvases)
    pipeline = Pipeline.load(options.model, device=options.device, dtype=_dtype(options), profile=blank)
    profile, report = calibrate(pipeline, requests, layers=options.layers, tensors=options.tensors)
    options.out.parent.mkdir(parents=True, exist_ok=True)
    save_profile(profile, options.out)
    written = write_report(report, options.out)
    if options.json:
        _print_json({"profile": str(options.out), "report": str(written), **report})
    else:
        print(written.read_text())
        print(f"profile: {options.out}\nreport: {written}")


def run_train(options: argparse.Namespace) -> None:
    """The embedded model's recipe, from the start or from where the folder's run stopped."""
    from seer_core.tools.loss_curve import plot_loss
    from seer_core.tools.recipe import Recipe
    from seer_core.tools.train_embedded import Trainer

    trainer = Trainer(Recipe(seed=options.seed), options.out)
    trainer.run(options.until)
    curve = options.out / "loss.png"
    plot_loss(options.out / "log.jsonl", curve)
    _print_fields(options, {"checkpoint": str(options.out), "steps": trainer.step, "loss_curve": str(curve)})


def run_bench(options: argparse.Namespace) -> None:
    """Fixed canvas against Seer, interleaved."""
    from seer_core.tools.bench import bench
    from seer_core.tools.scenes import scene_samples

    rows = bench(_pipeline(options), scene_samples(options.count), canvases=options.canvases, rounds=options.rounds)
    if options.json:
        _print_json({"rows": rows, "count": options.count})
        return
    for row in rows:
        print("  ".join(f"{name} {value}" for name, value in row.items()))


def run_doctor(options: argparse.Namespace) -> None:
    """This machine."""
    from seer_core.tools.doctor import examine, lines

    report = examine()
    if options.json:
        _print_json(report)
    else:
        print("\n".join(lines(report)))


def run_models(options: argparse.Namespace) -> None:
    """The families."""
    from seer_core.tools.family_table import family_rows

    rows = family_rows()
    if options.json:
        _print_json({"families": rows})
        return
    for row in rows:
        loops = ", ".join(map(str, row["loops"]))  # type: ignore[call-overload]
        print(f"{row['name']:13} {row['title']}; images: {row['images']}; loops: {loops}")


def run_inspect(options: argparse.Namespace) -> None:
    """A checkpoint folder."""
    from seer_core.tools.describe import describe
    from seer_core.tools.doctor import lines

    report = describe(options.folder, options.family, None if options.image is None else _read(options.image))
    if options.json:
        _print_json(report)
    else:
        print("\n".join(lines(report)))


def _request(options: argparse.Namespace) -> GenerationRequest:
    images = () if options.image is None else (_read(options.image),)
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


def _samples(options: argparse.Namespace, seed: int | None = None) -> Samples:
    from seer_core.tools.sample_fields import Form
    from seer_core.tools.sample_file import open_samples
    from seer_core.tools.scenes import HELD_OUT_SEED, scene_samples

    form = Form(
        columns=dict(options.fields),
        metric=getattr(options, "metric", None),
        instruction=options.instruction,
    )
    if options.data is not None and str(options.data) != "embedded":
        return open_samples(options.data, options.count, form)
    return scene_samples(options.count or SCENES, seed=HELD_OUT_SEED if seed is None else seed)


def _rounded(curve: NDArray[np.float64] | None) -> list[float] | None:
    return None if curve is None else [round(float(value), 6) for value in curve]


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise ConfigError(f"the image {path} cannot be read: {error.strerror}", field="image") from error


def _pipeline(options: argparse.Namespace) -> Pipeline:
    from seer_core.pipeline import Pipeline

    return Pipeline.load(options.model, device=options.device, dtype=_dtype(options))


def _dtype(options: argparse.Namespace) -> torch.dtype | None:
    import torch

    if options.dtype is None:
        return None
    dtype: torch.dtype = getattr(torch, options.dtype)
    return dtype


def _outcome_fields(outcome: Outcome) -> Printed:
    return {**asdict(outcome), "tokens": list(outcome.tokens)}


def _print_fields(options: argparse.Namespace, fields: Printed) -> None:
    if options.json:
        _print_json(fields)
        return
    for name, value in fields.items():
        print(f"{name.replace('_', ' ')}: {value}")


def _print_json(fields: Printed) -> None:
    print(json.dumps(fields))
