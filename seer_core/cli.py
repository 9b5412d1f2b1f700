"""The command line: `seer generate | probe | evaluate | calibrate | train-embedded | bench | doctor`.

Every command prints for people, or with `--json` one JSON object as its last line. Errors go to standard error, name
what is wrong and end with status 2.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from seer_core.embedded import CHECKPOINT
from seer_core.errors import ConfigError, SeerError
from seer_core.types import Decoding, GenerationRequest, Message, Outcome, Sampling

if TYPE_CHECKING:
    from seer_core.pipeline import Pipeline

Printed = dict[str, Any]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; the exit status."""
    options = parser().parse_args(arguments)
    try:
        options.run(options)
    except SeerError as error:
        print(f"seer: error: {error}", file=sys.stderr)
        if options.json:
            kind = type(error).__name__
            print(json.dumps({"error": {"type": kind, "message": error.message, "field": error.field}}))
        return 2
    return 0


def parser() -> argparse.ArgumentParser:
    """All commands and their options."""
    top = argparse.ArgumentParser(prog="seer", description="Diffusion multimodal models that see where answers end.")
    commands = top.add_subparsers(required=True, metavar="COMMAND")
    asking = _asking_options()
    generate = _command(commands, "generate", run_generate, "answer a question about an image", [asking])
    generate.add_argument("--no-truncate", action="store_true", help="denoise the whole canvas")
    generate.add_argument("--temperature", type=float, default=0.0)
    generate.add_argument("--seed", type=int, default=0)
    generate.add_argument("--stop", action="append", default=[], metavar="TEXT", help="end before this text")
    generate.add_argument("--steps-per-token", type=float, default=1.0, metavar="X", help="denoising steps per token")
    generate.add_argument("--commit", default="schedule", metavar="NAME", help="schedule, threshold or factor")
    generate.add_argument("--commit-threshold", type=float, default=0.9, metavar="X", help="sure enough to commit")
    generate.add_argument("--commit-factor", type=float, default=1.0, metavar="X", help="doubt one step may commit")
    probe = _command(commands, "probe", run_probe, "show what step 0 sees of the answer's length", [asking])
    probe.add_argument("--plot", type=Path, metavar="PNG", help="draw the sparsity curve")
    evaluate = _command(commands, "evaluate", run_evaluate, "score truncation on held-out scenes")
    evaluate.add_argument("--canvas", type=_positive, default=64, metavar="N")
    evaluate.add_argument("--count", type=_positive, default=100, metavar="N")
    evaluate.add_argument("--detector", metavar="NAME")
    calibrate = _command(commands, "calibrate", run_calibrate, "fit a profile from untruncated runs")
    calibrate.add_argument("--out", type=Path, required=True, metavar="JSON")
    calibrate.add_argument("--count", type=_positive, default=300, metavar="N")
    calibrate.add_argument("--canvases", type=_positive, nargs="+", default=[32, 64, 128, 256], metavar="N")
    calibrate.add_argument("--layers", type=int, nargs="+", default=[1, 2, 3], metavar="L")
    train = _command(commands, "train-embedded", run_train, "train the embedded model, or go on with a run")
    train.add_argument("--out", type=Path, required=True, metavar="DIR")
    train.add_argument("--until", type=_positive, metavar="STEP", help="stop here; a later call goes on")
    train.add_argument("--seed", type=int, default=0)
    bench = _command(commands, "bench", run_bench, "measure what truncation saves here")
    bench.add_argument("--canvases", type=_positive, nargs="+", default=[32, 64, 128], metavar="N")
    bench.add_argument("--count", type=_positive, default=16, metavar="N")
    bench.add_argument("--rounds", type=_positive, default=3, metavar="N")
    _command(commands, "doctor", run_doctor, "say what this machine can run")
    return top


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
        "sparsity": [round(float(value), 6) for value in seen.evidence.sparsity],
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
    """Held-out scenes with and without truncation."""
    from seer_core.tools.evaluate import evaluate
    from seer_core.tools.scenes import scene_samples

    summary = evaluate(
        _pipeline(options),
        scene_samples(options.count),
        canvas_tokens=options.canvas,
        decoding=Decoding(detector=options.detector),
    )
    _print_fields(options, summary)


def run_calibrate(options: argparse.Namespace) -> None:
    """A profile from the checkpoint's own untruncated runs on scenes."""
    from seer_core.families.registry import inspect
    from seer_core.pipeline import Pipeline
    from seer_core.probe.profile import Profile
    from seer_core.probe.profile_file import save_profile
    from seer_core.tools.calibrate import calibrate
    from seer_core.tools.scenes import calibration_requests

    # A profile that lies beside the weights may belong to others; what is fitted here needs none.
    blank = Profile(fingerprint=inspect(options.model).fingerprint())
    requests = calibration_requests(options.count, options.canvases)
    pipeline = Pipeline.load(options.model, profile=blank)
    profile, report = calibrate(pipeline, requests, layers=options.layers)
    options.out.parent.mkdir(parents=True, exist_ok=True)
    save_profile(profile, options.out)
    _print_fields(options, {"profile": str(options.out), **report})


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


def _command(
    commands: Any,
    name: str,
    run: Callable[[argparse.Namespace], None],
    summary: str,
    parents: Sequence[argparse.ArgumentParser] = (),
) -> argparse.ArgumentParser:
    command: argparse.ArgumentParser = commands.add_parser(name, help=summary, description=summary, parents=parents)
    command.add_argument("--json", action="store_true", help="print one JSON object as the last line")
    command.add_argument("--model", type=Path, default=CHECKPOINT, metavar="DIR", help="checkpoint folder")
    command.set_defaults(run=run)
    return command


def _asking_options() -> argparse.ArgumentParser:
    asking = argparse.ArgumentParser(add_help=False)
    asking.add_argument("--image", type=Path, metavar="FILE", help="the picture the question is about")
    asking.add_argument("--prompt", required=True, metavar="TEXT")
    asking.add_argument("--max-tokens", type=_positive, default=64, metavar="N", help="the canvas")
    asking.add_argument("--detector", metavar="NAME", help="who decides where the answer ends")
    asking.add_argument("--block-length", type=_positive, metavar="N", help="semi-autoregressive block")
    return asking


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
            commit=getattr(options, "commit", "schedule"),
            commit_threshold=getattr(options, "commit_threshold", 0.9),
            commit_factor=getattr(options, "commit_factor", 1.0),
        ),
    )


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise ConfigError(f"the image {path} cannot be read: {error.strerror}", field="image") from error


def _pipeline(options: argparse.Namespace) -> Pipeline:
    from seer_core.pipeline import Pipeline

    return Pipeline.load(options.model)


def _outcome_fields(outcome: Outcome) -> Printed:
    return {**asdict(outcome), "tokens": list(outcome.tokens)}


def _positive(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"{value} is not a positive number")
    return value


def _print_fields(options: argparse.Namespace, fields: Printed) -> None:
    if options.json:
        _print_json(fields)
        return
    for name, value in fields.items():
        print(f"{name.replace('_', ' ')}: {value}")


def _print_json(fields: Printed) -> None:
    print(json.dumps(fields))


if __name__ == "__main__":
    sys.exit(main())
