"""`mlp2x_gelu`: two linear layers with a GELU between, from the tower's width to the decoder's."""

from __future__ import annotations

from torch import nn


class MlpProjector(nn.Sequential):
    """[..., tower width] -> [..., decoder width]. Children are numbered 0 and 2, as in LLaVA's checkpoints."""

    def __init__(self, tower_size: int, hidden_size: int) -> None:
        super().__init__(nn.Linear(tower_size, hidden_size), nn.GELU(), nn.Linear(hidden_size, hidden_size))
