"""Two linear layers with an activation between, from a tower's width to the decoder's."""

from __future__ import annotations

from torch import Tensor, nn
from torch.nn.functional import silu


class MlpProjector(nn.Sequential):
    """`mlp2x_gelu`: [..., tower width] -> [..., decoder width]. Children are numbered 0 and 2, as in LLaVA's
    checkpoints."""

    def __init__(self, tower_size: int, hidden_size: int) -> None:
        super().__init__(nn.Linear(tower_size, hidden_size), nn.GELU(), nn.Linear(hidden_size, hidden_size))


class SiluProjector(nn.Module):
    """[..., tower width] -> [..., decoder width] with a SiLU between. Children are `linear_1` and `linear_2`, as in
    Dimple's checkpoints."""

    def __init__(self, tower_size: int, hidden_size: int) -> None:
        super().__init__()
        self.linear_1 = nn.Linear(tower_size, hidden_size)
        self.linear_2 = nn.Linear(hidden_size, hidden_size)

    def forward(self, features: Tensor) -> Tensor:
        out: Tensor = self.linear_2(silu(self.linear_1(features)))
        return out
