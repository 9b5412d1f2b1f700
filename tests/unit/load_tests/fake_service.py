"""A service of both protocols in threads of this process. It counts its requests, and "scales" by their number."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import grpc
from grpc_reflection.v1alpha import reflection

from deployments.proto import seer_pb2, seer_pb2_grpc
from load_tests.target import Target


class FakeService:
    """Has two workers while its count of requests is in `busy`, and refuses those whose turn is in `refused`."""

    def __init__(self, *, busy: range, refused: range = range(0)) -> None:
        self.requests = 0
        self._busy = busy
        self._refused = refused
        self._lock = threading.Lock()

    @property
    def workers(self) -> int:
        return 2 if self.requests in self._busy else 1

    def count(self) -> bool:
        """Whether this request is answered."""
        with self._lock:
            self.requests += 1
            return self.requests not in self._refused


class Speaker(seer_pb2_grpc.SeerServicer):
    """The gRPC face."""

    def __init__(self, service: FakeService) -> None:
        self._service = service

    def Generate(self, request: Any, context: Any) -> Any:
        if not self._service.count():
            context.abort(grpc.StatusCode.RESOURCE_EXHAUSTED, "full")
        return seer_pb2.GenerateResponse(text="yes", outcome=seer_pb2.Outcome(finish_reason="stop"))

    def GenerateStream(self, request: Any, context: Any) -> Iterator[Any]:
        if not self._service.count():
            context.abort(grpc.StatusCode.RESOURCE_EXHAUSTED, "full")
        yield seer_pb2.GenerateChunk(text="yes")
        yield seer_pb2.GenerateChunk(outcome=seer_pb2.Outcome(finish_reason="stop"))


def web_handler(service: FakeService) -> type[BaseHTTPRequestHandler]:
    """The HTTP face; `GET /workers` is what the fake watcher asks."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._reply(200, json.dumps({"workers": service.workers}))

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            picture = body["messages"][0]["content"][0]["image_url"]["url"]
            if not service.count() or not picture.startswith("data:image/png;base64,"):
                self._reply(429, "full")
                return
            choice = {"finish_reason": "stop", "index": 0, "delta": {}, "message": {"content": "yes"}}
            answer = json.dumps({"choices": [choice]})
            self._reply(200, f"data: {answer}\n\ndata: [DONE]\n\n" if body["stream"] else answer)

        def _reply(self, status: int, text: str) -> None:
            self.send_response(status)
            self.send_header("content-length", str(len(text)))
            self.end_headers()
            self.wfile.write(text.encode())

        def log_message(self, *_: object) -> None:
            """Quiet."""

    return Handler


@contextmanager
def serving(service: FakeService) -> Iterator[Target]:
    """Both faces on free loopback ports."""
    web = ThreadingHTTPServer(("127.0.0.1", 0), web_handler(service))
    thread = threading.Thread(target=web.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    server = grpc.server(ThreadPoolExecutor(max_workers=8))
    seer_pb2_grpc.add_SeerServicer_to_server(Speaker(service), server)  # type: ignore[no-untyped-call]
    reflection.enable_server_reflection(("seer.v1.Seer", reflection.SERVICE_NAME), server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    try:
        yield Target(url=f"http://127.0.0.1:{web.server_port}", grpc=f"127.0.0.1:{port}")
    finally:
        server.stop(grace=None).wait()
        web.shutdown()
        web.server_close()
        thread.join()
