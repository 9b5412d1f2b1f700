from __future__ import annotations

from pathlib import Path

from seer_core.tools.engine_bench.chart import plot_bench


def test_a_picture_shows_every_mode_of_every_mix(tmp_path: Path) -> None:
    path = tmp_path / "bench.png"
    rows = [
        {"mix": mix, "batch": 4, "mode": mode, "padding_waste": 0.1, "rows_per_s": 5.0}
        for mix in ("equal-16", "equal-64")
        for mode in ("static", "eager")
    ]
    plot_bench(rows, path)
    assert path.read_bytes().startswith(b"\x89PNG")
