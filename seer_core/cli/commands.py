"""What each command does, once its options are parsed. Every one prints for people, or one JSON line."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict, fields
from typing import TYPE_CHECKING, Any

from seer_core.cli.data import own_samples
from seer_core.cli.load import chosen_dtype, load_pipeline
from seer_core.cli.request import read_image, request_of
from seer_core.types import Decoding, Outcome

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from seer_core.tools.evaluate import Samples

Printed = dict[str, Any]

SCENES = 100
"""Drawn to be evaluated, where nobody says how many."""


def run_generate(options: argparse.Namespace) -> None:
    """One question, one answer."""
    request = request_of(options)
    if options.json:
        pipeline = load_pipeline(options)
        fields = _outcome_fields(pipeline.generate([request])[0])
        _print_json({**fields, "calibrated": pipeline.probe.profile.calibrated})
        return
    for delta in load_pipeline(options).stream(request):
        if delta.error is not None:
            raise delta.error
        print(delta.text, end="", flush=True)
    print()


def run_probe(options: argparse.Namespace) -> None:
    """Step 0 only: the curve, the boundary and what would be kept."""
    pipeline = load_pipeline(options)
    (prompt,) = pipeline.encode([request_of(options)])
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
        "calibrated": pipeline.probe.profile.calibrated,
    }
    if options.json:
        _print_json(fields)
    elif found.boundary is None:
        print(f"{found.detector} sees no end: all {found.canvas_tokens} positions are kept")
    else:
        kept = f"{found.length_tokens} of {found.canvas_tokens} positions are kept"
        print(f"{found.detector} sees the answer end at slot {found.boundary}: {kept}")
    if not options.json and not pipeline.probe.profile.calibrated:
        print("uncalibrated: these are the paper's numbers; `seer calibrate` fits this checkpoint's own")


def run_evaluate(options: argparse.Namespace) -> None:
    """Held-out scenes, or a file's questions, with and without truncation."""
    from seer_core.tools.evaluate import evaluate
    from seer_core.tools.evaluation_file import EvaluationFile, settings_of

    samples, decoding = _samples(options), Decoding(detector=options.detector)
    pipeline = load_pipeline(options)
    kept = None
    if options.out is not None:
        dtype = str(next(pipeline.probe.model.decoder.parameters()).dtype)
        profile = pipeline.probe.profile
        settings = settings_of(profile, canvas_tokens=options.canvas, decoding=decoding, dtype=dtype)
        kept = EvaluationFile(options.out, settings)
    _print_fields(options, evaluate(pipeline, samples, canvas_tokens=options.canvas, decoding=decoding, kept=kept))


def run_calibrate(options: argparse.Namespace) -> None:
    """A profile from the checkpoint's own untruncated runs on scenes."""
    from seer_core.families.checkpoint import inspect
    from seer_core.probe.profile import Profile
    from seer_core.probe.profile_file import save_profile
    from seer_core.tools.calibrate import calibrate
    from seer_core.tools.calibration_file import new_profile, write_report
    from seer_core.tools.scenes import CALIBRATION_SEED, calibration_requests

    out = options.out or new_profile(options.model)
    # A profile that lies beside the weights may belong to others; what is fitted here needs none.
    blank = Profile(fingerprint=inspect(options.model, options.family).fingerprint())
    requests = calibration_requests(_samples(options, CALIBRATION_SEED), options.canvases)
    pipeline = load_pipeline(options, profile=blank)
    profile, report = calibrate(pipeline, requests, layers=options.layers, tensors=options.tensors)
    out.parent.mkdir(parents=True, exist_ok=True)
    save_profile(profile, out)
    written = write_report(report, out)
    if options.json:
        _print_json({"profile": str(out), "report": str(written), **report})
    else:
        print(written.read_text())
        print(f"profile: {out}\nreport: {written}")


def run_train(options: argparse.Namespace) -> None:
    """The embedded model's recipe, from the start or from where the folder's run stopped."""
    from seer_core.tools.loss_curve import plot_loss
    from seer_core.tools.recipe import Recipe, ablation_recipe
    from seer_core.tools.train_embedded import Trainer

    penalty, seed = options.ablation, options.seed
    recipe = Recipe(seed=seed) if penalty is None else ablation_recipe(penalty, seed=seed)
    trainer = Trainer(recipe, options.out)
    trainer.run(options.until)
    curve = options.out / "loss.png"
    plot_loss(options.out / "log.jsonl", curve)
    _print_fields(options, {"checkpoint": str(options.out), "steps": trainer.step, "loss_curve": str(curve)})


def run_bench(options: argparse.Namespace) -> None:
    """Fixed canvas against Seer, interleaved."""
    from seer_core.tools.bench import bench
    from seer_core.tools.scenes import scene_samples

    rows = bench(load_pipeline(options), scene_samples(options.count), canvases=options.canvases, rounds=options.rounds)
    if options.json:
        _print_json({"rows": rows, "count": options.count})
        return
    for row in rows:
        print("  ".join(f"{name} {value}" for name, value in row.items()))


def run_bench_engine(options: argparse.Namespace) -> None:
    """The engine's modes on canvases of different lengths, without images and text."""
    from seer_core.families.registry import inspect, load_model
    from seer_core.tools.engine_bench.bench import bench_engine
    from seer_core.tools.engine_bench.settings import BenchSettings
    from seer_core.tools.engine_bench.table import table

    settings = BenchSettings(**{field.name: getattr(options, field.name) for field in fields(BenchSettings)})
    info = inspect(options.model, options.family, options.loop)
    where = {"device": options.device, "dtype": chosen_dtype(options), "family": options.family}
    decoder = load_model(options.model, **where).decoder
    rows = bench_engine(decoder, info.roles, settings, loop=info.loop)
    if options.plot is not None:
        from seer_core.tools.engine_bench.chart import plot_bench

        plot_bench(rows, options.plot)
    if options.json:
        _print_json({"rows": rows, **asdict(settings)})
    else:
        print("\n".join(table(rows)))


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

    report = describe(options.folder, options.family, None if options.image is None else read_image(options.image))
    if options.json:
        _print_json(report)
    else:
        print("\n".join(lines(report)))


def _samples(options: argparse.Namespace, seed: int | None = None) -> Samples:
    from seer_core.tools.scenes import HELD_OUT_SEED, scene_samples

    own = own_samples(options, options.count)
    if own is not None:
        return own
    return scene_samples(options.count or SCENES, seed=HELD_OUT_SEED if seed is None else seed)


def _rounded(curve: NDArray[np.float64] | None) -> list[float] | None:
    return None if curve is None else [round(float(value), 6) for value in curve]


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
