"""What dies is replaced, and nobody notices but by waiting."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from tests.e2e.conftest import RunningService
from tests.e2e.scene import MAX_TOKENS, data_url, expected, question

pytestmark = pytest.mark.timeout(300)


def replica(service: RunningService, deployment: str) -> int:
    """The process id of a deployment's first replica."""
    listing = subprocess.run(["ps", "-A", "-o", "pid=,args="], capture_output=True, text=True, check=True).stdout
    ours = {process.pid for process in service.processes()}
    rows = [line.strip().split(maxsplit=1) for line in listing.splitlines()]
    return next(int(pid) for pid, title in rows if int(pid) in ours and f"ServeReplica:seer:{deployment}" in title)


def ask(http: httpx.Client) -> httpx.Response:
    image, prompt = question()
    parts = [{"type": "image_url", "image_url": {"url": data_url(image)}}, {"type": "text", "text": prompt}]
    body = {"messages": [{"role": "user", "content": parts}], "max_tokens": MAX_TOKENS, "seer": {"budget_s": 200}}
    return http.post("/v1/chat/completions", json=body, timeout=250.0)


@pytest.mark.parametrize("deployment", ["Worker", "Router", "Probe"])
def test_a_killed_replica_costs_no_request(service: RunningService, http: httpx.Client, deployment: str) -> None:
    victim = replica(service, deployment)
    with ThreadPoolExecutor(4) as pool:
        asked = [pool.submit(ask, http) for _ in range(4)]
        time.sleep(0.15)
        os.kill(victim, signal.SIGKILL)
        answers = [one.result() for one in asked]
    assert [answer.status_code for answer in answers] == [200] * 4
    assert {answer.json()["choices"][0]["message"]["content"] for answer in answers} == {expected().text}


def test_a_disconnect_leaves_the_service_as_it_was(service: RunningService, http: httpx.Client) -> None:
    image, prompt = question()
    parts = [{"type": "image_url", "image_url": {"url": data_url(image)}}, {"type": "text", "text": prompt}]
    body = {"messages": [{"role": "user", "content": parts}], "max_tokens": MAX_TOKENS, "stream": True}
    for _ in range(5):
        with http.stream("POST", "/v1/chat/completions", json=body) as response:
            next(response.iter_lines())
    assert ask(http).json()["choices"][0]["message"]["content"] == expected().text
