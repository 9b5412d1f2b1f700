"""`seer bench end-to-end | detectors | document`: Seer and its rivals on the same weights, and the page of it all."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from seer_core.cli.data import add_data_options, form_of, is_drawn, own_samples
from seer_core.cli.load import load_pipeline

if TYPE_CHECKING:
    from seer_core.pipeline import Pipeline
    from seer_core.tools.evaluate import Sample
    from seer_core.tools.rivals.end_to_end import EndToEnd
    from seer_core.tools.rivals.settings import EndToEndSettings

DOCUMENT = Path("docs/benchmarks.md")
PUBLISHED = "published"
CANVASES = (32, 64, 128, 256)


class AddCommand(Protocol):
    """Adds a command of a name, that runs, with a summary."""

    def __call__(self, name: str, run: Any, summary: str, *, loads: bool = True) -> argparse.ArgumentParser: ...


def add_rivals(command: AddCommand) -> None:
    """The commands and their options."""
    whole = command("end-to-end", run_end_to_end, "score and time Seer and its rivals on the same weights")
    whole.add_argument("--methods", nargs="+", metavar="NAME", help="all that can run without it")
    whole.add_argument("--canvases", type=_number, nargs="+", default=CANVASES, metavar="N")
    whole.add_argument(
        "--batches", type=_number, nargs="+", default=(1, 16), metavar="N", help="rows that run together"
    )
    whole.add_argument("--speed-rows", type=_number, default=48, metavar="N")
    whole.add_argument("--rounds", type=int, default=3, metavar="N", help="of speed; 0 leaves speed out")
    whole.add_argument("--collect", action="store_true", help="run nothing: the table of the cells there are")
    detectors = command("detectors", run_detectors, "score every detector's boundary and say what it costs")
    detectors.add_argument("--canvases", type=_number, nargs="+", default=CANVASES, metavar="N")
    for one in (whole, detectors):
        about = "1,000 at canvas 64 and 128 else without it, as far as there are questions"
        one.add_argument("--quality-rows", type=_number, metavar="N", help=about)
        one.add_argument("--cells", type=Path, metavar="DIR", help="keep finished cells here, and go on from them")
        add_data_options(one)
        one.add_argument("--profile", type=Path, metavar="JSON", help="the checkpoint's own without it")
        one.add_argument("--out", type=Path, metavar="JSON", help="write the result here too")
    document = command("document", run_document, "make the tables and pictures of the benchmarks page", loads=False)
    document.add_argument("--end-to-end", type=Path, metavar="JSON")
    document.add_argument("--detectors", type=Path, metavar="JSON")
    document.add_argument("--out", type=Path, default=DOCUMENT, metavar="MD", help="a page with marks to fill")


def run_end_to_end(options: argparse.Namespace) -> None:
    """Quality cells, rounds of speed, one table."""
    from seer_core.tools.rivals.methods import METHODS
    from seer_core.tools.rivals.settings import EndToEndSettings
    from seer_core.tools.rivals.text import end_to_end_lines
    from seer_core.tools.rivals.track import methods_on

    settings = EndToEndSettings(
        canvases=options.canvases,
        batches=options.batches,
        methods=options.methods or tuple(METHODS),
        quality_rows=options.quality_rows,
        speed_rows=options.speed_rows,
        rounds=options.rounds,
    )
    samples, pipeline = _samples(options, settings), _pipeline(options)
    methods = methods_on(pipeline.probe, pipeline.info.loop, options.methods)
    bench = _bench(options, pipeline, samples, replace(settings, methods=methods))
    if not options.collect:
        bench.run()
    rows, missing = bench.rows(), len(bench.missing())
    _finish(
        options, {"rows": rows, "missing_cells": missing, **_facts(options, pipeline, bench)}, end_to_end_lines(rows)
    )


def run_detectors(options: argparse.Namespace) -> None:
    """Step 0 only, beside the ends of untruncated runs, which are the baseline's quality cells."""
    from seer_core.tools.rivals.detector_bench import bench_detectors
    from seer_core.tools.rivals.methods import BASELINE
    from seer_core.tools.rivals.quality import end_of
    from seer_core.tools.rivals.settings import EndToEndSettings
    from seer_core.tools.rivals.text import detector_lines

    settings = EndToEndSettings(
        canvases=options.canvases, methods=(BASELINE,), quality_rows=options.quality_rows, rounds=0
    )
    samples, pipeline = _samples(options, settings), _pipeline(options)
    bench = _bench(options, pipeline, samples, settings)
    bench.run()
    ends = {canvas: [end_of(record) for record in bench.records(canvas, BASELINE)] for canvas in settings.canvases}
    rows = bench_detectors(pipeline, bench.samples, ends)
    _finish(options, {"rows": rows, **_facts(options, pipeline, bench)}, detector_lines(rows))


def run_document(options: argparse.Namespace) -> None:
    """The page's tables and pictures, from the JSON of both."""
    from seer_core.tools.rivals.document import fill_document

    written = fill_document(options.out, end_to_end=options.end_to_end, detectors=options.detectors)
    if options.json:
        print(json.dumps({"written": [str(path) for path in written]}))
    else:
        print("\n".join(map(str, written)))


def _pipeline(options: argparse.Namespace) -> Pipeline:
    from seer_core.families.registry import inspect
    from seer_core.probe.profile_file import load_profile

    profile = options.profile
    if profile is not None:
        profile = load_profile(profile, fingerprint=inspect(options.model, options.family).fingerprint())
    return load_pipeline(options, profile)


def _samples(options: argparse.Namespace, settings: EndToEndSettings) -> list[Sample]:
    """As many as the settings ask for, where there are so many."""
    from seer_core.tools.evaluate import check_answered
    from seer_core.tools.scenes import published_samples

    own = own_samples(options, settings.most_rows)
    samples = published_samples(settings.most_rows) if own is None else list(own)
    for sample in samples:
        check_answered(sample)
    return samples


def _bench(
    options: argparse.Namespace, pipeline: Pipeline, samples: Sequence[Sample], settings: EndToEndSettings
) -> EndToEnd:
    from functools import partial

    from seer_core.tools.rivals.cells import Cells
    from seer_core.tools.rivals.end_to_end import EndToEnd
    from seer_core.tools.rivals.track import track_over

    return EndToEnd(
        samples=samples,
        settings=settings.upto(len(samples)),
        cells=Cells(options.cells, _identity(options, pipeline)),
        track_of=partial(track_over, pipeline),
    )


def _facts(options: argparse.Namespace, pipeline: Pipeline, bench: EndToEnd) -> dict[str, Any]:
    """What the numbers are of."""
    from seer_core.tools.rivals.report import lengths_of, machine

    settings = bench.settings
    counts = {*map(settings.rows, settings.canvases), *([settings.speed_rows] if settings.rounds else [])}
    return {
        "settings": asdict(settings),
        "lengths": {str(count): lengths_of(pipeline, bench.samples[:count]) for count in sorted(counts)},
        "machine": machine(),
        **_identity(options, pipeline),
    }


def _identity(options: argparse.Namespace, pipeline: Pipeline) -> dict[str, Any]:
    """The same questions read in another way are others."""
    from seer_core.tools.rivals.report import identity
    from seer_core.tools.sample_fields import Form

    if is_drawn(options):
        return identity(pipeline, PUBLISHED)
    form = form_of(options)
    return identity(pipeline, str(options.data)) | ({} if form == Form() else {"form": asdict(form)})


def _finish(options: argparse.Namespace, result: dict[str, Any], lines: Sequence[str]) -> None:
    if options.out is not None:
        options.out.parent.mkdir(parents=True, exist_ok=True)
        options.out.write_text(json.dumps(result, indent=1) + "\n")
    print(json.dumps(result) if options.json else "\n".join(lines))


def _number(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"{value} is not a positive number")
    return value
