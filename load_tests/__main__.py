"""`python -m load_tests`: one scenario against one service.

Its last line is one JSON object. It exits with 1 if the test failed, with 2 if it could not be run.
"""

from __future__ import annotations

import argparse
import json
import os
import secrets
import signal
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path

from load_tests.errors import LoadTestError
from load_tests.pace import solo_s
from load_tests.report import page
from load_tests.run import Run
from load_tests.scenario import load_scenario
from load_tests.service import own_service, wait_ready
from load_tests.summary import summary
from load_tests.target import Target


def main(argv: Sequence[str] | None = None) -> int:
    options = parser().parse_args(argv)
    try:
        return test(options)
    except LoadTestError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(
        prog="python -m load_tests", description="Load a service and watch its workers scale."
    )
    made.add_argument("--scenario", default="autoscale", help="name of a shipped scenario, or a YAML file")
    made.add_argument("--url", help="a running service, for example http://127.0.0.1:8000; without it one is started")
    made.add_argument("--grpc", help="its gRPC address, for example 127.0.0.1:9000")
    made.add_argument("--ray-address", default="auto", help="its Ray cluster, where the workers are counted")
    made.add_argument("--seed", type=int, default=0, help="of the arrival times")
    made.add_argument("--report", type=Path, default=Path("reports/load-test.html"), help="where the HTML report goes")
    return made


def test(options: argparse.Namespace) -> int:
    scenario = load_scenario(options.scenario)
    report: Path = options.report.absolute()
    logs = report.with_suffix("")
    logs.mkdir(parents=True, exist_ok=True)
    say = progress()
    with ExitStack() as stack:
        say("starting the service" if options.url is None else "waiting for the service")
        target, ray_address = _service(options, stack, logs)
        rates = scenario.rates(solo_s(target, scenario.options))
        watcher = [sys.executable, "-m", "load_tests.watch", "--address", ray_address]
        course = Run(target, scenario, rates=rates, seed=options.seed, watcher=watcher, say=say).course(logs)
    locust_page = logs / "locust.html"
    result = summary(course, report)
    text = page(course, result, locust_page.read_text(encoding="utf-8") if locust_page.exists() else "")
    report.write_text(text, encoding="utf-8")
    for fault in course.faults():
        print(f"failed: {fault}", file=sys.stderr)
    print(json.dumps(result))
    return 1 if course.faults() else 0


def _service(options: argparse.Namespace, stack: ExitStack, logs: Path) -> tuple[Target, str]:
    if (options.url is None) != (options.grpc is None):
        raise LoadTestError("--url and --grpc belong together: give both for a running service, or neither")
    if options.url is None:
        # One token for the service and for the watcher, which joins its cluster.
        if "RAY_AUTH_MODE" not in os.environ:
            os.environ |= {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": secrets.token_hex(32)}
        return stack.enter_context(own_service(logs))
    target = Target(url=options.url.rstrip("/"), grpc=options.grpc)
    wait_ready(target, timeout_s=10.0)
    return target, options.ray_address


def progress() -> Callable[[str], None]:
    """Says how far the test is: in place on a terminal, every few seconds elsewhere."""
    terminal = sys.stderr.isatty()
    said_s = -10.0

    def say(text: str) -> None:
        nonlocal said_s
        if terminal:
            print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)
        elif time.monotonic() - said_s >= 5.0:
            said_s = time.monotonic()
            print(text, file=sys.stderr, flush=True)

    return say


if __name__ == "__main__":
    # Also in the background, where a shell has Ctrl-C ignored, and so that the children can be interrupted as well.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.default_int_handler)
    sys.exit(main())
