"""The HTTP replies: a completion, its streamed chunks, the list of models. Plain dictionaries of fixed shape."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from seer_core.types import Outcome


def sse(event: dict[str, Any]) -> str:
    """One server-sent event."""
    return f"data: {json.dumps(event, ensure_ascii=False, separators=(',', ':'))}\n\n"


def seer_part(outcome: Outcome) -> dict[str, Any]:
    """The `seer` object of a reply: what the run did."""
    return {
        "forecast_tokens": outcome.forecast_tokens,
        "canvas_tokens": outcome.canvas_tokens,
        "kept_tokens": outcome.kept_tokens,
        "steps": outcome.steps,
        "regrown": outcome.regrown,
        "path": outcome.path,
        "detector": outcome.detector,
        "tokens": list(outcome.tokens),
    }


def usage_part(outcome: Outcome) -> dict[str, int]:
    usage = outcome.usage
    return {
        "prompt_tokens": usage.prompt_tokens,
        "completion_tokens": usage.completion_tokens,
        "total_tokens": usage.prompt_tokens + usage.completion_tokens,
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """Builds every body of one request. `created_s` is a Unix time."""

    id: str
    model: str
    created_s: int

    def completion(self, outcome: Outcome) -> dict[str, Any]:
        choice = {
            "index": 0,
            "message": {"role": "assistant", "content": outcome.text, "refusal": None},
            "logprobs": None,
            "finish_reason": outcome.finish_reason,
        }
        body = self._body("chat.completion", [choice])
        return body | {"usage": usage_part(outcome), "seer": seer_part(outcome)}

    def opening(self) -> dict[str, Any]:
        return self._chunk({"role": "assistant", "content": ""})

    def piece(self, text: str) -> dict[str, Any]:
        return self._chunk({"content": text})

    def closing(self, outcome: Outcome) -> dict[str, Any]:
        return self._chunk({}, outcome.finish_reason) | {"seer": seer_part(outcome)}

    def usage(self, outcome: Outcome) -> dict[str, Any]:
        """The extra last chunk that `stream_options.include_usage` asks for."""
        return self._body("chat.completion.chunk", []) | {"usage": usage_part(outcome)}

    def _chunk(self, delta: dict[str, str], finish_reason: str | None = None) -> dict[str, Any]:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish_reason}
        return self._body("chat.completion.chunk", [choice])

    def _body(self, kind: str, choices: list[dict[str, Any]]) -> dict[str, Any]:
        return {
            "id": f"chatcmpl-{self.id}",
            "object": kind,
            "created": self.created_s,
            "model": self.model,
            "choices": choices,
        }


def models(model: str, *, calibrated: bool) -> dict[str, Any]:
    """`GET /v1/models`."""
    return {"object": "list", "data": [model_card(model, calibrated=calibrated)]}


def model_card(model: str, *, calibrated: bool) -> dict[str, Any]:
    """One of them. Where `seer.calibrated` is false, the probe's numbers were not fitted to this checkpoint."""
    return {"id": model, "object": "model", "created": 0, "owned_by": "seer", "seer": {"calibrated": calibrated}}
