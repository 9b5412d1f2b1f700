"""The rows that run together, as one pack of positions.

Rows come in streams: a guided row has two, one with its prompt and one with masks in its place. Where rows are padded,
each stream has an equal share of the pack; otherwise they lie end to end. Either way a canvas sits at positions P_i + j
and no stream attends to another's keys, so that nothing depends on who else runs.

Legend: B rows, R slots for streams, T packed positions, W longest canvas, M masked positions, D hidden width.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from seer_core.engine.control import ControlRecord, Progress
from seer_core.engine.forward import StepInputs
from seer_core.engine.plan import ShapeKey
from seer_core.engine.row import ActiveRow, Written
from seer_core.kernels.compact import Packed, Slot, compact_for
from seer_core.models.decoder import Decoder
from seer_core.types import TokenRoles


class Batch:
    """Built when a row joins, leaves, grows, or computes other positions than before.

    `shape` is that of the pack; `key`, if given, is the predefined one it must have.
    """

    def __init__(
        self,
        rows: Sequence[ActiveRow],
        *,
        roles: TokenRoles,
        device: torch.device,
        padded: bool,
        key: ShapeKey | None = None,
    ) -> None:
        self.rows = tuple(rows)
        self.captured = key is not None
        self._device, self._mask_id = device, roles.mask_id
        self._streams = [(n, stream) for n, row in enumerate(rows) for stream in row.streams]
        self._firsts = [
            slot for slot, (n, _) in enumerate(self._streams) if slot == 0 or self._streams[slot - 1][0] != n
        ]
        self._spans = [rows[n].computed for n, _ in self._streams]
        self.shape = key or self._exact_shape(padded=padded)
        self._starts = self._query_starts(padded=padded)
        self._compact = compact_for(device)
        self._table = self._tensor(self._slots())
        self._ends = self._tensor(sorted(roles.end_ids))
        self._canvases = self._tensor(_rectangle([row.canvas.tokens for row in rows], roles.mask_id))  # [B, W]
        self._packed = self._empty()
        self._control = ControlRecord(self.shape.rows, device)
        self._prompts = self._recomputed_prompts()
        self._refresh()

    @property
    def current(self) -> bool:
        """Whether its rows still compute the positions it was built for."""
        return all(self.rows[n].computed == span for (n, _), span in zip(self._streams, self._spans, strict=True))

    @property
    def positions(self) -> tuple[int, int]:
        """How many positions belong to rows, and how many are computed."""
        return sum(map(len, self._spans)), self.shape.tokens

    def inputs(self, decoder: Decoder) -> StepInputs:
        """The pack as the forward takes it."""
        hidden = decoder.embed(self._packed.ids)  # [T, D]
        if self._prompts is not None:
            hidden = hidden.index_copy(0, *self._prompts)
        packed = self._packed
        return StepInputs(
            hidden, packed.positions, packed.places, packed.query_starts, packed.key_starts, packed.key_lengths
        )

    def logits(self, decoder: Decoder, hidden: Tensor) -> Tensor:
        """[T, D] -> [M, V]: for the holes of every row's current block, row after row."""
        per_stream = [self._holes(n) for n in range(len(self._streams))]
        logits = decoder.logits(hidden.index_select(0, self._tensor([at for holes in per_stream for at in holes])))
        if len(self._streams) == len(self.rows):
            return logits
        parts = iter(torch.split(logits, [len(holes) for holes in per_stream]))
        return torch.cat([row.guided([next(parts) for _ in row.streams]) for row in self.rows])

    def commit(self, written: Sequence[Written]) -> None:
        """Take over what each row wrote, and make the pack of the next step."""
        width = self._canvases.shape[1]
        at = [n * width + slot for n, (slots, _) in enumerate(written) for slot in slots]
        tokens = [token for _, own in written for token in own]
        self._canvases.view(-1).index_copy_(0, self._tensor(at), self._tensor(tokens))
        self._refresh()

    def progress(self) -> list[Progress]:
        """How far each row's canvas is; waits for the device to say so."""
        record = self._control.read()
        return [record[slot] for slot in self._firsts]

    def _refresh(self) -> None:
        last = self._starts[-1]
        self._compact(self._canvases, self._table, self._ends, mask_id=self._mask_id, last=last, out=self._packed)
        self._control.post(self._packed.control)

    def _exact_shape(self, *, padded: bool) -> ShapeKey:
        longest = max(map(len, self._spans))
        slots = len(self._spans)
        keys = max(self.rows[n].key_tokens for n, _ in self._streams)
        return ShapeKey(slots, slots * longest if padded else sum(map(len, self._spans)), longest, keys)

    def _query_starts(self, *, padded: bool) -> list[int]:
        """Where each slot's queries begin, and where the last one's end."""
        if padded:
            return [slot * self.shape.canvas_tokens for slot in range(self.shape.rows + 1)]
        starts = [0]
        for span in self._spans:
            starts.append(starts[-1] + len(span))
        return starts + [starts[-1]] * (self.shape.rows - len(self._spans))

    def _slots(self) -> list[Slot]:
        slots = [
            Slot(
                source=n,
                first=span.start,
                stop=span.stop,
                prompt=self.rows[n].prompt_tokens,
                length=len(self.rows[n].canvas),
                key_start=stream.extent.start,
                query_start=start,
                shift=0,
            )
            for (n, stream), span, start in zip(self._streams, self._spans, self._starts, strict=False)
        ]
        empty = [Slot(-1, 0, 0, 0, 0, 0, start, 0) for start in self._starts[len(slots) : -1]]
        return slots + empty

    def _recomputed_prompts(self) -> tuple[Tensor, Tensor] | None:
        """Where in the pack prompt positions lie, and their embeddings."""
        at: list[int] = []
        embeddings: list[Tensor] = []
        for (n, stream), span, start in zip(self._streams, self._spans, self._starts, strict=False):
            count = max(0, self.rows[n].prompt_tokens - span.start)
            at += range(start, start + count)
            embeddings.append(stream.embeddings[span.start : span.start + count])
        return (self._tensor(at), torch.cat(embeddings)) if at else None

    def _holes(self, stream: int) -> list[int]:
        row = self.rows[self._streams[stream][0]]
        first = self._starts[stream] + row.prompt_tokens - self._spans[stream].start
        return [first + slot for slot in row.canvas.holes]

    def _empty(self) -> Packed:
        rows, tokens = self.shape.rows, self.shape.tokens
        sizes = {"ids": tokens, "positions": tokens, "places": tokens, "query_starts": rows + 1}
        sizes |= {"key_starts": rows, "key_lengths": rows}
        long = {name: self._tensor([0] * size) for name, size in sizes.items()}
        return Packed(**long, control=torch.zeros(rows, 2, dtype=torch.int32, device=self._device))

    def _tensor(self, values: Sequence[int] | Sequence[Sequence[int]]) -> Tensor:
        return torch.tensor(values, dtype=torch.int64, device=self._device)


def _rectangle(rows: Sequence[Sequence[int]], fill: int) -> list[list[int]]:
    width = max(map(len, rows))
    return [[*row, *[fill] * (width - len(row))] for row in rows]
