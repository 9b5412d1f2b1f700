"""`python -m deployments.client`: ask one question over gRPC; prints the text, then one JSON line."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

import grpc
from google.protobuf.json_format import MessageToDict

from deployments.proto import seer_pb2, seer_pb2_grpc

MAX_MESSAGE_BYTES = 64 * 2**20


def main() -> int:
    """Exit code 0 with an answer, 1 with an error of the service."""
    arguments = _parser().parse_args()
    options = [("grpc.max_send_message_length", MAX_MESSAGE_BYTES)]
    with grpc.insecure_channel(arguments.address, options) as channel:
        try:
            stub: Any = seer_pb2_grpc.SeerStub(channel)  # type: ignore[no-untyped-call]
            _ask(stub, _request(arguments))
        except grpc.RpcError as error:
            sys.stderr.write(f"error: {error.code().name}: {error.details()}\n")
            return 1
    return 0


def _request(arguments: argparse.Namespace) -> seer_pb2.GenerateRequest:
    images = [_read(path) for path in arguments.image]
    message = seer_pb2.Message(role="user", text=arguments.prompt, images=images)
    request = seer_pb2.GenerateRequest(messages=[message])
    for name in ("max_tokens", "seed"):
        value = getattr(arguments, name)
        if value is not None:
            setattr(request, name, value)
    return request


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        sys.exit(f"error: the image {path} cannot be read: {error.strerror}")


def _ask(stub: Any, request: seer_pb2.GenerateRequest) -> None:
    """Print the text as it comes, and what the last chunk says about the run."""
    text, last = "", seer_pb2.GenerateChunk()
    for chunk in stub.GenerateStream(request):
        sys.stdout.write(chunk.text)
        sys.stdout.flush()
        text, last = text + chunk.text, chunk
    outcome = MessageToDict(last.outcome, preserving_proto_field_name=True, always_print_fields_with_no_presence=True)
    sys.stdout.write("\n" + json.dumps({"text": text, **outcome}) + "\n")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m deployments.client", description=__doc__)
    parser.add_argument("--address", default="127.0.0.1:9000", help="host and port of the service")
    parser.add_argument("--image", type=Path, action="append", default=[], help="an image file; may be repeated")
    parser.add_argument("--prompt", required=True, help="the question")
    parser.add_argument("--max-tokens", type=int, help="longest answer, in tokens")
    parser.add_argument("--seed", type=int, help="makes sampling repeatable")
    return parser


if __name__ == "__main__":
    sys.exit(main())
