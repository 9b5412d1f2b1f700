"""Asks one question over HTTP, whole or streamed, and says what was wrong with the answer. Knows no clock."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import requests

from load_tests.options import Options
from load_tests.question import Question

FINISHED = ("stop", "length")


class HttpAsker:
    """Each call uses a connection of its own, as independent callers do."""

    def __init__(self, url: str, options: Options) -> None:
        self._url = f"{url}/v1/chat/completions"
        self._options = options

    def chat(self, question: Question) -> str | None:
        """The fault of the answer, or None for a whole one."""
        reply = self._post(question, stream=False)
        if reply.status_code != 200:
            return f"HTTP {reply.status_code}: {reply.text[:300]}"
        return fault_of_reason(reply.json()["choices"][0].get("finish_reason"))

    def chat_stream(self, question: Question) -> str | None:
        """The same for server-sent events; a stream that ends early is at fault."""
        reply = self._post(question, stream=True)
        if reply.status_code != 200:
            return f"HTTP {reply.status_code}: {reply.text[:300]}"
        return fault_of_events(list(events(reply)))

    def _post(self, question: Question, *, stream: bool) -> requests.Response:
        picture = {"type": "image_url", "image_url": {"url": question.data_url}}
        body = {
            "messages": [{"role": "user", "content": [picture, {"type": "text", "text": question.text}]}],
            "max_tokens": self._options.max_tokens,
            "temperature": 0,
            "stream": stream,
            "seer": {"truncate": self._options.truncate, "budget_s": self._options.budget_s},
        }
        return requests.post(self._url, json=body, stream=stream, timeout=self._options.timeout_s)


def events(reply: requests.Response) -> Iterator[str]:
    """The data of each server-sent event."""
    for line in reply.iter_lines():
        if line.startswith(b"data: "):
            yield line.removeprefix(b"data: ").decode()


def fault_of_events(data: list[str]) -> str | None:
    if not data or data[-1] != "[DONE]":
        return f"the stream ended without [DONE]; its last event: {data[-1][:300] if data else 'none'}"
    pieces: list[dict[str, Any]] = [json.loads(one) for one in data[:-1]]
    reasons = [choice.get("finish_reason") for piece in pieces for choice in piece.get("choices", [])]
    return fault_of_reason(next((reason for reason in reasons if reason), None))


def fault_of_reason(reason: object) -> str | None:
    return None if reason in FINISHED else f"finish_reason is {reason!r}"
