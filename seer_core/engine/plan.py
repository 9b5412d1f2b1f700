"""How a batch runs: which path its rows take this step."""

from __future__ import annotations

from seer_core.types import Path


def path_of(rows: int) -> Path:
    """A straggler alone runs eagerly; rows together are padded to one shape."""
    return "eager" if rows == 1 else "static"
