"""The rows that run together, as one padded forward.

Legend: B rows, P longest prompt, L longest canvas, S = L, or the longest of prompt and canvas together where prompts
are recomputed, M masked positions, D hidden width. A row's canvas sits at positions P_i + j whatever the padding, and
no row attends to padding, so that nothing depends on who else runs.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from seer_core.engine.kv_cache import row_view, stack
from seer_core.engine.row import ActiveRow
from seer_core.layers.attention import KeyValues
from seer_core.models.decoder import Decoder


class Batch:
    """Built when a row joins or leaves: cached prompts are padded once, the rest at every step."""

    def __init__(self, rows: Sequence[ActiveRow], *, mask_id: int) -> None:
        self.rows = tuple(rows)
        self._mask_id = mask_id
        self._device = rows[0].embeddings.device
        self._prompt_tokens = [row.prompt_tokens for row in rows]
        self.past = _shared_past(rows)

    def inputs(self, decoder: Decoder) -> tuple[Tensor, Tensor, Tensor | None]:
        """Hidden [B, S, D], positions int64 [B, S] and the key mask of this step."""
        canvases = pad_sequence(
            [self._tensor(row.canvas.tokens) for row in self.rows], batch_first=True, padding_value=self._mask_id
        )
        hidden = decoder.embed(canvases)  # [B, L, D]
        lengths = [len(row.canvas) for row in self.rows]
        if self.past is not None:
            positions = self._tensor(self._prompt_tokens)[:, None] + self._counted(hidden.shape[1])
            return hidden, positions, key_mask(self._prompt_tokens, lengths, self._device)
        wholes = [torch.cat((row.embeddings, own[:n])) for row, own, n in zip(self.rows, hidden, lengths, strict=True)]
        hidden = pad_sequence(wholes, batch_first=True)  # [B, S, D]
        mask = key_mask([0] * len(wholes), [len(whole) for whole in wholes], self._device)
        return hidden, self._counted(hidden.shape[1]).expand(len(wholes), -1), mask

    def holes(self, hidden: Tensor) -> Tensor:
        """[B, S, D] -> [M, D]: the masked positions of every row's current block, row after row."""
        width = hidden.shape[1]
        firsts = self._prompt_tokens if self.past is None else [0] * len(self.rows)
        flat = [
            n * width + first + slot
            for n, (row, first) in enumerate(zip(self.rows, firsts, strict=True))
            for slot in row.canvas.holes
        ]
        return hidden.flatten(0, 1).index_select(0, self._tensor(flat))

    def by_row(self, values: Tensor) -> tuple[Tensor, ...]:
        """[M, ...] -> what belongs to each row."""
        return torch.split(values, [len(row.canvas.holes) for row in self.rows])

    def _counted(self, count: int) -> Tensor:
        return torch.arange(count, device=self._device)

    def _tensor(self, values: Sequence[int]) -> Tensor:
        return torch.tensor(values, dtype=torch.int64, device=self._device)


def key_mask(prompt_tokens: Sequence[int], canvas_tokens: Sequence[int], device: torch.device) -> Tensor | None:
    """Which keys may be attended, bool [B, P + L], from the lengths of the B rows; None where nothing is padded.

    An empty slot keeps its first canvas key: attention over no key at all is not a number.
    """
    if min(canvas_tokens) > 0 and len(set(zip(prompt_tokens, canvas_tokens, strict=True))) == 1:
        return None
    prompt = _within(prompt_tokens, device)
    canvas = _within([max(1, tokens) for tokens in canvas_tokens], device)
    return torch.cat((prompt, canvas), dim=1)


def _within(lengths: Sequence[int], device: torch.device) -> Tensor:
    return torch.arange(max(lengths), device=device) < torch.tensor(lengths, device=device)[:, None]


def _shared_past(rows: Sequence[ActiveRow]) -> KeyValues | None:
    """All rows' cached prompts in one stack, which the rows then view, so that each is held once."""
    pasts = [row.past for row in rows if row.past is not None]
    if not pasts:
        return None
    stacked = stack(pasts)
    for n, row in enumerate(rows):
        row.past = row_view(stacked, n, row.prompt_tokens)
    return stacked
