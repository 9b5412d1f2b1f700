"""DAEDAL over the engine's parts: the same forward, attention, key pool and cached prompts; only the loop is its own.

Rows join and leave between steps, as they do in the engine.

Legend: B rows that run, T packed positions, C canvas positions among them, P prompt positions, V vocabulary.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from seer_core.config import LoopFacts
from seer_core.engine.config import EngineConfig
from seer_core.engine.footprint import Footprint
from seer_core.engine.forward import StepInputs, forward_over
from seer_core.engine.key_pool import KeyPool
from seer_core.engine.plan import ShapeKey
from seer_core.engine.prefill import prefill
from seer_core.engine.row import Stream
from seer_core.engine.transcript import Decode
from seer_core.errors import ConfigError, EngineError
from seer_core.models.decoder import Decoder
from seer_core.prompt import EncodedPrompt
from seer_core.tools.rivals.daedal_canvas import DaedalCanvas, DaedalSettings, Seen
from seer_core.types import GenerationRequest, Outcome, TokenRoles, Usage


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Running:
    index: int
    stream: Stream
    canvas: DaedalCanvas

    @property
    def prompt_tokens(self) -> int:
        return len(self.stream.embeddings)


def runs_on(decoder: Decoder, loop: LoopFacts) -> bool:
    """Whether a slot's own logits predict it, and a position is one number."""
    return not (loop.shifted or decoder.config.rope_sections)


class Daedal:
    """Up to `max_rows` rows at a time. Raises `ConfigError` for loops whose logits are shifted."""

    def __init__(
        self,
        decoder: Decoder,
        roles: TokenRoles,
        decode: Decode,
        *,
        loop: LoopFacts,
        max_rows: int,
        settings: DaedalSettings | None = None,
    ) -> None:
        if not runs_on(decoder, loop):
            raise ConfigError("daedal is defined for logits that are not shifted; leave it out of the methods")
        self._roles, self._decode, self._loop, self._max_rows = roles, decode, loop, max_rows
        self._settings = settings if settings is not None else DaedalSettings()
        weight, config = decoder.embedding.weight, EngineConfig(max_rows=max_rows)
        key_bytes = Footprint.of(decoder.config, weight.element_size()).key_bytes
        places = min(config.key_memory_bytes // key_bytes, max_rows * decoder.config.max_positions)
        self._pool = KeyPool(decoder.config, places, weight)
        self._forward = forward_over(decoder, self._pool, None, graph_bytes=0)

    @torch.inference_mode()
    def run(self, requests: Sequence[GenerationRequest], prompts: Sequence[EncodedPrompt]) -> list[Outcome]:
        """Answer every request, in order, on canvases of up to `max_tokens`."""
        waiting = deque(range(len(requests)))
        running: list[_Running] = []
        outcomes: dict[int, Outcome] = {}
        while waiting or running:
            while waiting and len(running) < self._max_rows:
                started = self._start(waiting[0], requests[waiting[0]], prompts[waiting[0]])
                if started is None:
                    break
                running.append(started)
                waiting.popleft()
            if not running:
                raise EngineError("there is no room for the keys of one row")
            self._step(running)
            for row in [row for row in running if row.canvas.complete]:
                outcomes[row.index] = self._outcome(row, requests[row.index])
                self._pool.give_back(row.stream.extent)
                running.remove(row)
        return [outcomes[index] for index in range(len(requests))]

    def _start(self, index: int, request: GenerationRequest, prompt: EncodedPrompt) -> _Running | None:
        limit = request.sampling.max_tokens
        extent = self._pool.take(prompt.length_tokens + limit)
        if extent is None:
            return None
        stream = Stream(prompt.embeddings.to(self._forward.decoder.embedding.weight), extent)
        if self._loop.prefix_lm:
            prefill(self._forward, stream)
        canvas = DaedalCanvas(limit, roles=self._roles, settings=self._settings)
        return _Running(index=index, stream=stream, canvas=canvas)

    def _step(self, rows: Sequence[_Running]) -> None:
        """One forward for all rows, and what each makes of it."""
        shape, inputs = self._pack(rows)
        hidden = self._forward(shape, inputs)  # [T, D]
        spans = [len(row.canvas.tokens) for row in rows]
        ends = inputs.query_starts[1:].tolist()
        own = torch.cat([hidden[end - span : end] for end, span in zip(ends, spans, strict=True)])  # [C, D]
        seen = self._read(self._forward.decoder.logits(own))
        parts = zip(*(values.cpu().split(spans) for values in seen), strict=True)
        for row, (tokens, confidence, probability, likeliest) in zip(rows, parts, strict=True):
            row.canvas.step(
                Seen(
                    tokens=tokens.tolist(),
                    confidence=confidence.tolist(),
                    end_probability=probability.tolist(),
                    end_likeliest=likeliest.tolist(),
                )
            )

    def _read(self, logits: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """[C, V] -> proposals, how sure they are, P(end), whether an end token is the likeliest; each [C]."""
        ends = torch.tensor(sorted(self._roles.end_ids), device=logits.device)
        never = torch.tensor(sorted({self._roles.mask_id, *self._roles.banned_ids}), device=logits.device)
        shares = logits.double().softmax(-1)
        confidence, tokens = shares.index_fill(-1, never, -1.0).max(-1)
        return tokens, confidence, shares.index_select(-1, ends).sum(-1), torch.isin(tokens, ends)

    def _pack(self, rows: Sequence[_Running]) -> tuple[ShapeKey, StepInputs]:
        """All rows end to end: their canvases, and before each its prompt where that sees the canvas."""
        decoder = self._forward.decoder
        device = decoder.embedding.weight.device
        hidden: list[Tensor] = []
        positions: list[Tensor] = []
        places: list[Tensor] = []
        for row in rows:
            if not self._loop.prefix_lm:
                hidden.append(row.stream.embeddings)
            hidden.append(decoder.embed(torch.tensor(row.canvas.tokens, device=device)))
            at = torch.arange(self._first(row), row.prompt_tokens + len(row.canvas.tokens), device=device)
            positions.append(at)
            places.append(at + row.stream.extent.start)
        spans = [len(at) for at in positions]
        keys = [row.prompt_tokens + len(row.canvas.tokens) for row in rows]
        inputs = StepInputs(
            hidden=torch.cat(hidden),
            positions=torch.cat(positions),
            places=torch.cat(places),
            query_starts=torch.tensor([0, *spans], device=device).cumsum(0),
            key_starts=torch.tensor([row.stream.extent.start for row in rows], device=device),
            key_lengths=torch.tensor(keys, device=device),
        )
        return ShapeKey(len(rows), sum(spans), max(spans), max(keys)), inputs

    def _first(self, row: _Running) -> int:
        return row.prompt_tokens if self._loop.prefix_lm else 0

    def _outcome(self, row: _Running, request: GenerationRequest) -> Outcome:
        canvas, answer = row.canvas, row.canvas.answer
        return Outcome(
            text=self._decode(answer),
            tokens=tuple(answer),
            finish_reason="stop" if canvas.ended else "length",
            forecast_tokens=canvas.started_tokens or len(canvas.tokens),
            canvas_tokens=request.sampling.max_tokens,
            kept_tokens=len(canvas.tokens),
            steps=canvas.steps,
            regrown=canvas.insertions,
            usage=Usage(prompt_tokens=row.prompt_tokens, completion_tokens=len(answer)),
            path="varlen",
            detector="daedal",
        )
