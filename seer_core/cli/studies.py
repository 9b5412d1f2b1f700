"""`seer bench canvases`, `seer bench layers` and `seer bench readout`: questions about detectors, with pictures."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from seer_core.cli.data import add_data_options, own_samples
from seer_core.cli.load import load_pipeline
from seer_core.errors import ConfigError

Command = Callable[..., argparse.ArgumentParser]


def add_studies(command: Command) -> None:
    """Add them to the parts of `bench`; `command` makes a sub-command."""
    about = "does a longer canvas shorten answers, and does the forecast follow?"
    canvases = command("canvases", run_canvases, about)
    canvases.add_argument("--canvases", type=int, nargs="+", default=[32, 64, 128, 256], metavar="N")
    canvases.add_argument("--count", type=int, default=64, metavar="N", help="questions")
    canvases.add_argument("--plot", type=Path, metavar="PNG")
    cuts = command("cuts", run_cuts, "what a cut costs that comes so many tokens too early")
    cuts.add_argument("--canvas", type=int, default=64, metavar="N")
    cuts.add_argument("--cuts", type=int, nargs="+", default=[1, 2, 4, 8, 16], metavar="N", help="tokens")
    cuts.add_argument("--count", type=int, default=128, metavar="N", help="questions")
    layers = command("layers", run_layers, "error against layers run, from the reports of calibrations", loads=False)
    layers.add_argument("reports", nargs="+", metavar="[NAME=]REPORT.json")
    layers.add_argument("--plot", type=Path, metavar="PNG")
    about = "what the readout gains from features, layers, prompts and margins, and how it transfers"
    readout = command("readout", run_readout, about)
    readout.add_argument("--count", type=int, default=320, metavar="N", help="questions; the first N of a file's")
    readout.add_argument("--canvases", type=int, nargs="+", default=[16, 32, 64, 128, 256], metavar="N")
    readout.add_argument("--layers", type=int, nargs="+", default=[0, 1, 2, 3], metavar="L")
    about = "what is tapped; the first is read wherever features are not compared"
    readout.add_argument("--tensors", nargs="+", default=["gate", "product", "mlp"], metavar="NAME", help=about)
    add_data_options(readout, scored=False)
    readout.add_argument("--ends", type=Path, metavar="JSON", help="keep the untruncated runs' ends here, and go on")
    readout.add_argument("--out", type=Path, metavar="JSON", help="write the result here too")
    readout.add_argument("--plot", type=Path, metavar="PNG")


def run_canvases(options: argparse.Namespace) -> None:
    from seer_core.tools.canvas_study import plot_canvases, study_canvases
    from seer_core.tools.scenes import calibration_requests, scene_samples

    requests = calibration_requests(scene_samples(options.count), options.canvases[:1])
    rows = study_canvases(load_pipeline(options), requests, options.canvases)
    if options.plot is not None:
        plot_canvases(rows, options.plot)
    _print(options, rows)


def run_cuts(options: argparse.Namespace) -> None:
    import torch

    from seer_core.pipeline import Pipeline
    from seer_core.tools.cut_study import study_cuts
    from seer_core.tools.scenes import calibration_requests, scene_samples

    requests = calibration_requests(scene_samples(options.count), [options.canvas])
    dtype = None if options.dtype is None else getattr(torch, options.dtype)
    where = {"family": options.family, "loop": options.loop, "device": options.device, "dtype": dtype}
    _print(options, study_cuts(Pipeline.load(options.model, **where), requests, options.cuts))


def run_layers(options: argparse.Namespace) -> None:
    from seer_core.tools.layer_plot import plot_layers, points_of

    reports: dict[str, Any] = {}
    for name, report in map(_report, options.reports):
        if name in reports:
            raise ConfigError(f"two reports are called {name!r}: name them, NAME=REPORT", field="reports")
        reports[name] = report
    if options.plot is not None:
        plot_layers(reports, options.plot)
    _print(options, [{"report": name, **point} for name, report in reports.items() for point in points_of(report)])


def run_readout(options: argparse.Namespace) -> None:
    from seer_core.families.checkpoint import inspect
    from seer_core.probe.profile import Profile
    from seer_core.tools.calibrate import check_taps
    from seer_core.tools.label_file import label_once
    from seer_core.tools.readout_plot import plot_readout
    from seer_core.tools.readout_study import study_readout
    from seer_core.tools.scenes import CALIBRATION_SEED, calibration_requests, scene_samples

    own = own_samples(options, options.count)
    samples = scene_samples(options.count, seed=CALIBRATION_SEED) if own is None else list(own)
    blank = Profile(fingerprint=inspect(options.model, options.family).fingerprint())
    pipeline = load_pipeline(options, blank)
    check_taps(pipeline, options.layers, options.tensors)
    labelled = label_once(pipeline, calibration_requests(samples, options.canvases), options.ends, batch_rows=16)
    kinds = [sample.kind for sample in samples]
    study = study_readout(pipeline, labelled, kinds, layers=options.layers, tensors=options.tensors)
    if options.plot is not None:
        plot_readout(study, options.plot)
    _finish(options, {**study, "fingerprint": blank.fingerprint, "canvases_tokens": options.canvases})


def _finish(options: argparse.Namespace, study: dict[str, Any]) -> None:
    if options.out is not None:
        options.out.parent.mkdir(parents=True, exist_ok=True)
        options.out.write_text(json.dumps(study, indent=1) + "\n")
    if options.json:
        print(json.dumps(study))
        return
    for part, rows in study.items():
        for row in rows if isinstance(rows, list) and rows and isinstance(rows[0], dict) else ():
            print(part, "  ".join(f"{name} {value}" for name, value in row.items()), sep=": ")


def _report(given: str) -> tuple[str, dict[str, Any]]:
    name, _, file = given.rpartition("=")
    try:
        found = json.loads(Path(file).read_text())
    except (OSError, ValueError) as error:
        raise ConfigError(f"{file} is no calibration report: {error}") from error
    if not isinstance(found, dict) or not {"taps", "work"} <= found.keys():
        raise ConfigError(f"{file} is no calibration report: it has no taps")
    return name or Path(file).stem, found


def _print(options: argparse.Namespace, rows: list[dict[str, Any]]) -> None:
    if options.json:
        print(json.dumps({"rows": rows}))
        return
    for row in rows:
        print("  ".join(f"{name} {value}" for name, value in row.items()))
