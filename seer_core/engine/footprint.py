"""What a forward takes in memory, estimated from the sizes of the decoder. Knows no torch and no device."""

from __future__ import annotations

from dataclasses import dataclass

from seer_core.config import DecoderConfig


@dataclass(frozen=True, slots=True, kw_only=True)
class Footprint:
    """Bytes of one computed position at its widest moment, and of the keys and values of one position in all layers."""

    position_bytes: int
    key_bytes: int

    @classmethod
    def of(cls, decoder: DecoderConfig, item_bytes: int) -> Footprint:
        """For a decoder whose numbers take `item_bytes` each."""
        stream = 6 * decoder.hidden_size  # the stream, its normalised copy, query, mix, output and their sum
        keys = 2 * decoder.layers * decoder.kv_heads * decoder.head_size
        widest = stream + 2 * decoder.mlp_size + decoder.vocab_size
        return cls(position_bytes=widest * item_bytes, key_bytes=keys * item_bytes)

    def size_bytes(self, positions: int, keys: int) -> int:
        """Bytes of `positions` computed and `keys` held."""
        return positions * self.position_bytes + keys * self.key_bytes
