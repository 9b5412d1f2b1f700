"""`python -m deployments`: serve a configuration on this machine until Ctrl-C."""

from __future__ import annotations

import argparse
import json
import os
import shlex
import signal
import sys
import threading
import time
from pathlib import Path

from deployments.local_service import LocalService, read_config
from seer_core.errors import ConfigError

ROOT = Path(__file__).parent.parent
READY_TIMEOUT_S = 300.0
STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM)


def main() -> int:
    """Exit code 0 after Ctrl-C, 2 where the configuration is wrong or the service does not start."""
    arguments = _parser().parse_args()
    started_s = time.monotonic()
    _listen()
    service = None
    try:
        address = {"host": arguments.host, "http_port": arguments.http_port, "grpc_port": arguments.grpc_port}
        config = read_config(arguments.config, **address)
        service = LocalService(config)
        service.start()
        _listen()  # again: Ray has put its own handlers in place
        service.wait_ready(READY_TIMEOUT_S)
        _greet(service.url, config["grpc_options"]["port"], time.monotonic() - started_s)
        threading.Event().wait()
    except ConfigError as error:
        print(f"error: {error.message}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("stopping", flush=True)
    finally:
        if service is not None:
            _stop(service)
    return 0


def _listen() -> None:
    """Both signals end the service. SIGINT too must be asked for: a shell's background jobs are born deaf to it."""
    for number in STOP_SIGNALS:
        signal.signal(number, signal.default_int_handler)


def _stop(service: LocalService) -> None:
    """A second Ctrl-C must not leave half of it running."""
    for number in STOP_SIGNALS:
        signal.signal(number, signal.SIG_IGN)
    service.stop()


def _greet(url: str, grpc_port: int, seconds: float) -> None:
    print(f"ready after {seconds:.1f} s: {url} (docs at {url}/docs), gRPC on port {grpc_port}")
    print("note: the gRPC port is open on every interface, in clear text")
    example = _example()
    if example is None:
        return
    image, prompt = example
    print(f"\ntry over HTTP:\n  {_curl(url, image, prompt)}")
    print(f"try over gRPC:\n  {_grpc(grpc_port, image, prompt)}\n\nCtrl-C ends it.", flush=True)


def _example() -> tuple[str, str] | None:
    """Path of a shipped image, relative to the working directory if it is below, and a question about it."""
    answers = ROOT / "examples" / "answers.json"
    if not answers.exists():
        return None
    first = json.loads(answers.read_text())[0]
    path = answers.parent / Path(first["image"]).name
    return os.path.relpath(path), first["prompt"]


def _curl(url: str, image: str, prompt: str) -> str:
    parts = [
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,%s"}},
        {"type": "text", "text": prompt.replace("%", "%%")},
    ]
    body = shlex.quote(json.dumps({"messages": [{"role": "user", "content": parts}]}))
    data = f"\"$(base64 < {shlex.quote(image)} | tr -d '\\n')\""
    return f"printf {body} {data} | curl -s {url}/v1/chat/completions -H 'content-type: application/json' -d @-"


def _grpc(port: int, image: str, prompt: str) -> str:
    arguments = ["--address", f"127.0.0.1:{port}", "--image", image, "--prompt", prompt]
    return shlex.join([os.path.relpath(sys.executable), "-m", "deployments.client", *arguments])


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m deployments", description=__doc__)
    parser.add_argument("--config", type=Path, default=ROOT / "serve_config.yaml", help="a Serve configuration file")
    parser.add_argument("--host", help="address of the HTTP server, instead of the file's")
    parser.add_argument("--http-port", type=int, help="instead of the file's")
    parser.add_argument("--grpc-port", type=int, help="instead of the file's")
    return parser


if __name__ == "__main__":
    sys.exit(main())
