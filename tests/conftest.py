"""What every test stands on: no network, no logins, kernels interpreted, the same examples each run."""

from __future__ import annotations

import os

import pytest
from hypothesis import settings

OFFLINE = {
    "HF_HUB_OFFLINE": "1",
    "TRANSFORMERS_OFFLINE": "1",
    "RAY_AUTH_MODE": "disabled",
    "RAY_USAGE_STATS_ENABLED": "0",
    "TOKENIZERS_PARALLELISM": "false",
    "MPLBACKEND": "agg",
}

# Read when the libraries are imported, and inherited by the processes that tests start.
os.environ.update(OFFLINE)

settings.register_profile("seer", derandomize=True, deadline=None, database=None, max_examples=50)
settings.load_profile("seer")


def pytest_configure(config: pytest.Config) -> None:
    """Without a device, Triton kernels run in its interpreter; it must know before any kernel is imported."""
    if not any("tests/gpu" in argument for argument in config.args):
        os.environ.setdefault("TRITON_INTERPRET", "1")
