"""Free memory of this machine."""

from __future__ import annotations

from pathlib import Path

import pytest

from seer_core.tools import memory


def test_free_memory_is_read_in_gibibytes(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "meminfo").write_text("MemTotal: 99 kB\nMemAvailable:   12582912 kB\n")
    monkeypatch.setattr(memory, "MEMINFO", tmp_path / "meminfo")
    assert memory.free_memory_gib() == 12.0
    assert memory.free_by_device_gib()["cpu"] == 12.0


def test_a_system_that_does_not_tell_is_no_error(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(memory, "MEMINFO", tmp_path / "nothing")
    assert memory.free_memory_gib() is None
    assert "cpu" not in memory.free_by_device_gib()
