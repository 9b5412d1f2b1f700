"""Error against layers run, from what calibrations wrote."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from seer_core.tools.layer_plot import plot_layers, points_of


def scores(mae: float, cost: float) -> dict[str, Any]:
    return {"mae_tokens": mae, "cost_tokens": cost, "over_truncation": 0.0, "detection_rate": 1.0}


def tap(detector: str, layer: int, tensor: str, mae: float, cost: float) -> dict[str, Any]:
    return {"detector": detector, "layer": layer, "tensor": tensor, **scores(mae, cost)}


REPORT = {
    "taps": [
        tap("paper", 1, "gate", 5.0, 30.0),
        tap("paper", 1, "mlp", 7.0, 20.0),
        tap("readout", 3, "gate", 0.1, 0.1),
    ],
    "smartcrop": scores(0.0, 0.0),
    "work": {"layers": 8},
}


def test_of_the_tensors_of_a_layer_the_cheapest_counts() -> None:
    points = points_of(REPORT)
    assert [(point["detector"], point["layers"], point["tensor"]) for point in points] == [
        ("paper", 2, "mlp"),
        ("readout", 4, "gate"),
        ("smartcrop", 8, None),
    ]
    assert points[0]["mae_tokens"] == 7.0


def test_several_checkpoints_stand_side_by_side(tmp_path: Path) -> None:
    plot_layers({"with": REPORT, "without": REPORT}, tmp_path / "layers.png")
    assert (tmp_path / "layers.png").stat().st_size > 1000
