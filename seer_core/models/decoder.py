"""The bidirectional decoder of the LLaDA and Dream lines, able to run any slice of its layers.

Legend: B rows, S own positions, D hidden width, V vocabulary.
It knows no family, no mask token and no schedule; weights come from `weights.py` under the names of this module.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor, nn

from seer_core.config import DecoderConfig
from seer_core.layers.attention import Attend, Attention, attend_own
from seer_core.layers.mlp import GatedMLP
from seer_core.layers.norm import RMSNorm
from seer_core.layers.rotary import Rotation, rotation

Observer = Callable[[int, str, Tensor], None]
"""Called with (layer, name, value): the taps of `mlp.TapName`, and `hidden`, the block's output."""


class Block(nn.Module):
    """Attention and gated MLP, each on a normalised copy of the stream."""

    def __init__(self, config: DecoderConfig) -> None:
        super().__init__()
        self.attention_norm = RMSNorm(config.hidden_size, config.norm_eps)
        self.attention = Attention(config.hidden_size, config.heads, config.kv_heads, qkv_bias=config.qkv_bias)
        self.mlp_norm = RMSNorm(config.hidden_size, config.norm_eps)
        self.mlp = GatedMLP(config.hidden_size, config.mlp_size)

    def forward(
        self,
        hidden: Tensor,
        turn: Rotation,
        attend: Callable[[Tensor, Tensor, Tensor], Tensor],
        observe: Callable[[str, Tensor], None] | None,
    ) -> Tensor:
        hidden = hidden + self.attention(self.attention_norm(hidden), turn, attend)
        hidden = hidden + self.mlp(self.mlp_norm(hidden), observe)
        if observe is not None:
            observe("hidden", hidden)
        return hidden

    def mlp_input(self, hidden: Tensor, turn: Rotation, attend: Callable[[Tensor, Tensor, Tensor], Tensor]) -> Tensor:
        """What the MLP is given."""
        out: Tensor = self.mlp_norm(hidden + self.attention(self.attention_norm(hidden), turn, attend))
        return out


class Decoder(nn.Module):
    """Embedding, blocks, final norm and head."""

    def __init__(self, config: DecoderConfig) -> None:
        super().__init__()
        self.config = config
        self.embedding = nn.Embedding(config.vocab_size, config.hidden_size)
        self.blocks = nn.ModuleList(Block(config) for _ in range(config.layers))
        self.norm = RMSNorm(config.hidden_size, config.norm_eps)
        self.head = nn.Linear(config.hidden_size, config.vocab_size, bias=False)

    @property
    def device(self) -> torch.device:
        return self.embedding.weight.device

    def embed(self, ids: Tensor) -> Tensor:
        """int64 [B, S] -> [B, S, D]."""
        out: Tensor = self.embedding(ids)
        return out

    def run(
        self,
        hidden: Tensor,
        positions: Tensor,
        *,
        layers: range | None = None,
        attend: Attend = attend_own,
        observe: Observer | None = None,
    ) -> Tensor:
        """Run `layers` (all by default) over `hidden` [B, S, D] at `positions` int64 [B, S].

        With `rope_sections` positions may also be [3, B, S]: time, height and width of each. `attend` is told the
        layer's absolute index. Returns the stream after the last layer run, [B, S, D].
        """
        turn = self._turn(positions, hidden.dtype)
        for index in layers if layers is not None else range(self.config.layers):
            told = None if observe is None else partial(observe, index)
            hidden = self.blocks[index](hidden, turn, partial(attend, index), told)
        return hidden

    def mlp_input(self, layer: int, hidden: Tensor, positions: Tensor, *, attend: Attend = attend_own) -> Tensor:
        """What the MLP of one layer is given, [B, S, D], from the stream before that layer; see `run`."""
        return self._block(layer).mlp_input(hidden, self._turn(positions, hidden.dtype), partial(attend, layer))

    def mlp(self, layer: int) -> GatedMLP:
        """The MLP of one layer."""
        return self._block(layer).mlp

    def _block(self, layer: int) -> Block:
        block = self.blocks[layer]
        assert isinstance(block, Block)
        return block

    def _turn(self, positions: Tensor, dtype: torch.dtype) -> Rotation:
        config = self.config
        return rotation(
            positions,
            config.hidden_size // config.heads,
            config.rope_theta,
            sections=config.rope_sections,
            dtype=torch.float32 if config.rope_float32 else dtype,
        )

    def logits(self, hidden: Tensor) -> Tensor:
        """Final norm and head: [..., D] -> [..., V]."""
        out: Tensor = self.head(self.norm(hidden))
        return out
