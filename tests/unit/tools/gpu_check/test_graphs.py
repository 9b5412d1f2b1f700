"""The check of graphs, on recordings."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from seer_core.engine.graphs.backend import Graph
from seer_core.engine.graphs.recording import RecordingGraphs
from seer_core.tools.gpu_check.graphs import check_graphs

CPU = torch.device("cpu")


class Frozen:
    """A graph whose replay does nothing."""

    size_bytes = 0

    def replay(self) -> None:
        """Leave the output as it was captured."""


class FrozenGraphs:
    """A back-end that does not follow its inputs."""

    def capture(self, body: Callable[[], Tensor]) -> tuple[Graph, Tensor]:
        return Frozen(), body()


def test_recordings_give_what_the_eager_forward_gives() -> None:
    finding = check_graphs(CPU, RecordingGraphs())
    assert finding["ok"], finding
    assert finding["shapes"] > 2


def test_graphs_that_do_not_follow_their_inputs_fail() -> None:
    finding = check_graphs(CPU, FrozenGraphs())
    assert not finding["ok"]
    assert finding["worst"] > 1e-3
