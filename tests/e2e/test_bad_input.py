"""Bad input is an answer: a clear error that names what is wrong, and the service lives."""

from __future__ import annotations

import struct
import zlib
from typing import Any

import httpx
import pytest

from tests.e2e.scene import data_url, question

pytestmark = [pytest.mark.timeout(300), pytest.mark.usefixtures("alive")]


def post(http: httpx.Client, *, image: bytes | None = None, prompt: str | None = None, **fields: Any) -> httpx.Response:
    default_image, default_prompt = question()
    url = data_url(default_image if image is None else image)
    parts = [{"type": "image_url", "image_url": {"url": url}}, {"type": "text", "text": prompt or default_prompt}]
    body = {"messages": [{"role": "user", "content": parts}], "max_tokens": 16, **fields}
    return http.post("/v1/chat/completions", json=body)


def error(response: httpx.Response, status: int) -> dict[str, Any]:
    assert response.status_code == status, response.text
    told: dict[str, Any] = response.json()["error"]
    assert told["message"]
    assert "Traceback" not in response.text
    return told


def huge_png(side_px: int) -> bytes:
    """A PNG that says it has side_px x side_px pixels, and has next to none."""
    header = struct.pack(">IIBBBBB", side_px, side_px, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(bytes(100)))


def chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def test_no_image_where_one_is_needed(http: httpx.Client) -> None:
    body = {"messages": [{"role": "user", "content": "what is it?"}]}
    assert "image" in error(http.post("/v1/chat/completions", json=body), 400)["message"]


def test_a_text_file_as_image(http: httpx.Client) -> None:
    assert error(post(http, image=b"just some text, no image at all"), 400)["code"] == "bad_image"


def test_a_decompression_bomb(http: httpx.Client) -> None:
    assert error(post(http, image=huge_png(30_000)), 413)["code"] == "image_too_large"


def test_an_unknown_field(http: httpx.Client) -> None:
    told = error(post(http, max_tokns=4), 400)
    assert told["param"] == "max_tokns"
    assert "max_tokens" in told["message"]


def test_an_unknown_detector(http: httpx.Client) -> None:
    assert error(post(http, seer={"detector": "papr"}), 400)["param"] == "detector"


def test_negative_max_tokens(http: httpx.Client) -> None:
    assert error(post(http, max_tokens=-5), 400)["param"] == "max_tokens"


@pytest.mark.parametrize("fields", [{"prompt": "circle " * 3000}, {"max_tokens": 30_000}])
def test_a_prompt_or_canvas_longer_than_the_context(http: httpx.Client, fields: dict[str, Any]) -> None:
    assert error(post(http, **fields), 400)["code"] == "context_length_exceeded"


def test_a_body_that_is_no_json(http: httpx.Client) -> None:
    response = http.post("/v1/chat/completions", content=b"{", headers={"content-type": "application/json"})
    error(response, 400)


def test_a_remote_image(http: httpx.Client) -> None:
    part = {"type": "image_url", "image_url": {"url": "http://127.0.0.1:1/a.png"}}
    body = {"messages": [{"role": "user", "content": [part]}]}
    assert "data URL" in error(http.post("/v1/chat/completions", json=body), 400)["message"]


@pytest.mark.parametrize("mask", ["<|mdm_mask|>", "[MASK]", "<|mask|>"])
def test_a_literal_mask_token_is_text(http: httpx.Client, mask: str) -> None:
    plain, marked = post(http, prompt="count"), post(http, prompt=f"count {mask}")
    assert (plain.status_code, marked.status_code) == (200, 200)
    assert marked.json()["usage"]["prompt_tokens"] > plain.json()["usage"]["prompt_tokens"] + 1
    assert mask not in marked.json()["choices"][0]["message"]["content"]


def test_a_budget_that_cannot_be_met(http: httpx.Client) -> None:
    assert error(post(http, seer={"budget_s": 0.001}), 504)["code"] == "budget_exceeded"
