"""All commands and their options."""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from seer_core.cli import commands
from seer_core.cli.data import add_data_options
from seer_core.cli.rivals import add_rivals
from seer_core.cli.studies import add_studies
from seer_core.embedded import CHECKPOINT
from seer_core.tools.engine_bench.mixes import MIXES
from seer_core.tools.engine_bench.settings import GRAPHS, MODES, BenchSettings

DTYPES = ("float32", "bfloat16", "float16")


def parser() -> argparse.ArgumentParser:
    """All commands and their options."""
    top = argparse.ArgumentParser(prog="seer", description="Diffusion multimodal models that see where answers end.")
    subcommands = top.add_subparsers(required=True, metavar="COMMAND")
    asking = _asking_options()
    generate = _command(subcommands, "generate", commands.run_generate, "answer a question about an image", [asking])
    generate.add_argument("--no-truncate", action="store_true", help="denoise the whole canvas")
    generate.add_argument("--temperature", type=float, default=0.0)
    generate.add_argument("--seed", type=int, default=0)
    generate.add_argument("--stop", action="append", default=[], metavar="TEXT", help="end before this text")
    generate.add_argument("--steps-per-token", type=float, default=1.0, metavar="X", help="denoising steps per token")
    generate.add_argument("--remasking", metavar="NAME", help="low_confidence, entropy, margin, random or leftmost")
    generate.add_argument("--schedule", metavar="NAME", help="even, shift, cosine, timesteps or share")
    generate.add_argument("--commit", metavar="NAME", help="schedule, threshold, factor or confident")
    generate.add_argument("--commit-threshold", type=float, metavar="X", help="sure enough to commit")
    generate.add_argument("--commit-factor", type=float, default=1.0, metavar="X", help="doubt one step may commit")
    generate.add_argument("--cache", default="exact", metavar="NAME", help="exact, fastdllm_prefix or fastdllm_dual")
    generate.add_argument("--guidance-scale", type=float, default=0.0, metavar="X", help="push away from no prompt")
    probe = _command(subcommands, "probe", commands.run_probe, "show what step 0 sees of the answer's length", [asking])
    probe.add_argument("--plot", type=Path, metavar="PNG", help="draw the sparsity curve")
    about = "score answers with and without truncation, on held-out scenes or on your own data"
    evaluate = _command(subcommands, "evaluate", commands.run_evaluate, about)
    add_data_options(evaluate)
    evaluate.add_argument("--canvas", type=_positive, default=64, metavar="N")
    evaluate.add_argument(
        "--count", type=_positive, metavar="N", help="the first N rows; all without it, or 100 scenes"
    )
    evaluate.add_argument("--detector", metavar="NAME")
    evaluate.add_argument(
        "--out", type=Path, metavar="JSONL", help="keep a record of each sample; a rerun goes on there"
    )
    calibrate = _command(subcommands, "calibrate", commands.run_calibrate, "fit a profile from untruncated runs")
    add_data_options(calibrate, scored=False)
    calibrate.add_argument("--out", type=Path, metavar="JSON", help="beside the weights without it, if none is there")
    calibrate.add_argument("--count", type=_positive, default=300, metavar="N")
    calibrate.add_argument("--canvases", type=_positive, nargs="+", default=[32, 64, 128, 256], metavar="N")
    calibrate.add_argument("--layers", type=int, nargs="+", default=[1, 2, 3], metavar="L")
    calibrate.add_argument(
        "--tensors", nargs="+", default=["gate", "product", "mlp"], metavar="NAME", help="what is tapped in each layer"
    )
    about = "train the embedded model, or go on with a run"
    train = _command(subcommands, "train-embedded", commands.run_train, about, loads=False)
    train.add_argument("--out", type=Path, required=True, metavar="DIR")
    train.add_argument("--until", type=_positive, metavar="STEP", help="stop here; a later call goes on")
    train.add_argument("--seed", type=int, default=0)
    about = "half the steps with this activation penalty (0 for none, shipped 0.15), to compare checkpoints"
    train.add_argument("--ablation", type=_penalty, metavar="PENALTY", help=about)
    _add_bench(subcommands)
    _command(subcommands, "doctor", commands.run_doctor, "say what this machine can run", loads=False)
    _command(subcommands, "models", commands.run_models, "list the model families", loads=False)
    about = "say what a checkpoint is, what memory it takes and whether it fits here"
    inspect = _command(subcommands, "inspect", commands.run_inspect, about, loads=False)
    inspect.add_argument("folder", type=Path, metavar="DIR", help="checkpoint folder")
    inspect.add_argument("--image", type=Path, metavar="FILE", help="say how many tokens this picture becomes")
    inspect.add_argument("--family", metavar="NAME", help="take it for one of this family, whatever it says")
    return top


def _add_bench(subcommands: Any) -> None:
    bench = _command(subcommands, "bench", commands.run_bench, "measure what truncation saves here, or one part")
    bench.add_argument("--canvases", type=_positive, nargs="+", default=[32, 64, 128], metavar="N")
    bench.add_argument("--count", type=_positive, default=16, metavar="N")
    bench.add_argument("--rounds", type=_positive, default=3, metavar="N")
    parts = bench.add_subparsers(metavar="PART")
    add_studies(partial(_command, parts, nested=True))
    default, summary = BenchSettings(), "compare the engine's ways to run rows of different lengths"
    engine = _command(parts, "engine", commands.run_bench_engine, summary, nested=True)
    engine.add_argument("--mixes", nargs="+", default=default.mixes, metavar="NAME", help=", ".join(MIXES))
    engine.add_argument("--batches", type=_positive, nargs="+", default=default.batches, metavar="N", help="rows")
    engine.add_argument("--modes", nargs="+", default=default.modes, metavar="NAME", help=", ".join(MODES))
    engine.add_argument("--rounds", type=_positive, default=default.rounds, metavar="N")
    engine.add_argument("--prompt-tokens", type=_positive, default=default.prompt_tokens, metavar="N")
    engine.add_argument("--steps", type=_positive, default=default.steps, metavar="N", help="steps of every row")
    engine.add_argument("--graphs", default=default.graphs, metavar="NAME", help=", ".join(GRAPHS))
    engine.add_argument("--plot", type=Path, metavar="PNG", help="draw padding waste and speed")
    add_rivals(partial(_command, parts, nested=True))


def _command(
    commands: Any,
    name: str,
    run: Callable[[argparse.Namespace], None],
    summary: str,
    parents: Sequence[argparse.ArgumentParser] = (),
    *,
    loads: bool = True,
    nested: bool = False,
) -> argparse.ArgumentParser:
    """`nested`: the command around it has set the defaults of what all commands share."""
    command: argparse.ArgumentParser = commands.add_parser(name, help=summary, description=summary, parents=parents)
    for option, default, more in (
        ("--json", False, {"action": "store_true", "help": "print one JSON object as the last line"}),
        ("--model", CHECKPOINT, {"type": Path, "metavar": "DIR", "help": "checkpoint folder"}),
        ("--family", None, {"metavar": "NAME", "help": "take it for one of this family, whatever it says"}),
        ("--loop", None, {"metavar": "NAME", "help": "how it denoises: one of its family's loops"}),
        ("--device", "cpu", {"help": "where the model runs: cpu, cuda, cuda:1"}),
        ("--dtype", None, {"choices": DTYPES, "help": "the checkpoint's own without it, as `seer inspect` says"}),
    ):
        if loads or option == "--json":
            command.add_argument(option, default=argparse.SUPPRESS if nested else default, **more)
    command.set_defaults(run=run)
    return command


def _asking_options() -> argparse.ArgumentParser:
    asking = argparse.ArgumentParser(add_help=False)
    about = "a picture the question is about; more than once for several"
    asking.add_argument("--image", type=Path, action="append", default=[], metavar="FILE", help=about)
    asking.add_argument("--prompt", required=True, metavar="TEXT")
    asking.add_argument("--max-tokens", type=_positive, default=64, metavar="N", help="the canvas")
    asking.add_argument("--detector", metavar="NAME", help="who decides where the answer ends")
    asking.add_argument("--block-length", type=_positive, metavar="N", help="semi-autoregressive block")
    return asking


def _penalty(text: str) -> float:
    value = float(text)
    if not 0 <= value < math.inf:
        raise argparse.ArgumentTypeError(f"{text} is no penalty: 0 or more")
    return value


def _positive(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"{value} is not a positive number")
    return value
