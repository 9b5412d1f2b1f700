"""ASGI middleware that refuses a body of more than so many bytes, before it is read into memory."""

from __future__ import annotations

import json
from typing import Any

from deployments.errors import answer_of, body
from seer_core.errors import ImageTooLarge


class BodyLimit:
    """Answers 413 where the declared or the received body is larger than `max_bytes`."""

    def __init__(self, app: Any, max_bytes: int) -> None:
        self._app = app
        self._max_bytes = max_bytes

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        messages, total, more = [], 0, True
        while more:
            message = await receive()
            total += len(message.get("body", b""))
            if total > self._max_bytes or _declared(scope) > self._max_bytes:
                await self._refuse(send)
                return
            messages.append(message)
            more = message["type"] == "http.request" and message.get("more_body", False)
        messages.reverse()

        async def replay() -> Any:
            return messages.pop() if messages else await receive()

        await self._app(scope, replay, send)

    async def _refuse(self, send: Any) -> None:
        error = ImageTooLarge(f"the request body is larger than {self._max_bytes} bytes")
        headers = [(b"content-type", b"application/json")]
        await send({"type": "http.response.start", "status": answer_of(error).http, "headers": headers})
        await send({"type": "http.response.body", "body": json.dumps(body(error, "")).encode()})


def _declared(scope: Any) -> int:
    for name, value in scope["headers"]:
        if name == b"content-length" and value.isdigit():
            return int(value)
    return 0
