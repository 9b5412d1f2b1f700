"""`seer bench canvases` and `seer bench layers`: two questions about detectors, with their pictures."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from seer_core.errors import ConfigError

Command = Callable[..., argparse.ArgumentParser]


def add_studies(command: Command) -> None:
    """Add both to the parts of `bench`; `command` makes a sub-command."""
    about = "does a longer canvas shorten answers, and does the forecast follow?"
    canvases = command("canvases", run_canvases, about)
    canvases.add_argument("--canvases", type=int, nargs="+", default=[32, 64, 128, 256], metavar="N")
    canvases.add_argument("--count", type=int, default=64, metavar="N", help="questions")
    canvases.add_argument("--plot", type=Path, metavar="PNG")
    layers = command("layers", run_layers, "error against layers run, from the reports of calibrations", loads=False)
    layers.add_argument("reports", nargs="+", metavar="[NAME=]REPORT.json")
    layers.add_argument("--plot", type=Path, metavar="PNG")


def run_canvases(options: argparse.Namespace) -> None:
    from seer_core.pipeline import Pipeline
    from seer_core.tools.canvas_study import plot_canvases, study_canvases
    from seer_core.tools.scenes import calibration_requests, scene_samples

    requests = calibration_requests(scene_samples(options.count), options.canvases[:1])
    pipeline = Pipeline.load(options.model, family=options.family, loop=options.loop, device=options.device)
    rows = study_canvases(pipeline, requests, options.canvases)
    if options.plot is not None:
        plot_canvases(rows, options.plot)
    _print(options, rows)


def run_layers(options: argparse.Namespace) -> None:
    from seer_core.tools.layer_plot import plot_layers, points_of

    reports = dict(_report(given) for given in options.reports)
    if options.plot is not None:
        plot_layers(reports, options.plot)
    _print(options, [{"report": name, **point} for name, report in reports.items() for point in points_of(report)])


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
