"""Decoders small enough for every test, rows for them, and a loop that runs an engine dry."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import torch
from torch import Tensor

from seer_core.config import DecoderConfig
from seer_core.engine.config import EngineConfig
from seer_core.engine.engine import Engine, Row
from seer_core.layers.attention import Attend, attend_own
from seer_core.models.decoder import Decoder, Observer
from seer_core.prompt import EncodedPrompt
from seer_core.types import Decoding, Delta, Forecast, Outcome, Sampling, TokenRoles

BYTES = [bytes([b]) for b in b"abcdefghijklmnopqrstuvwxyz .,!?"] + [b"\xe2", b"\x82", b"\xac", b"\xf0\x9f", b"\x98\x80"]
ROLES = TokenRoles(mask_id=47, fill_id=46, end_ids=frozenset({44, 45, 46}))
SIZES = DecoderConfig(
    hidden_size=16,
    layers=2,
    heads=2,
    kv_heads=2,
    mlp_size=24,
    vocab_size=48,
    rope_theta=10000.0,
    norm_eps=1e-5,
    max_positions=512,
)


def decode(ids: Sequence[int]) -> str:
    """Byte-level text; ids beyond the alphabet are skipped, as special tokens are."""
    return b"".join(BYTES[i] for i in ids if i < len(BYTES)).decode("utf-8", errors="replace")


def spell(text: str) -> list[int]:
    """The ids of ASCII text."""
    return [BYTES.index(bytes([b])) for b in text.encode()]


def random_decoder(seed: int = 0) -> Decoder:
    """Random weights, large enough that choices are not near ties."""
    generator = torch.Generator().manual_seed(seed)
    decoder = Decoder(SIZES)
    with torch.no_grad():
        for parameter in decoder.parameters():
            if parameter.ndim > 1:
                parameter.copy_(torch.randn(parameter.shape, generator=generator) * 0.5)
    return decoder.eval()


class ScriptedDecoder(Decoder):
    """Sees `script` at every slot whatever it is shown, and is surer of the slots named earlier in `order`.

    Prompts have one position. Slots beyond the script are fill.
    """

    def __init__(self, script: Sequence[int], order: Sequence[int] = ()) -> None:
        super().__init__(SIZES)
        self.script, self.order = list(script), list(order)

    def run(
        self,
        hidden: Tensor,
        positions: Tensor,
        *,
        layers: range | None = None,
        attend: Attend = attend_own,
        observe: Observer | None = None,
    ) -> Tensor:
        return positions[..., None].expand_as(hidden).to(hidden.dtype)

    def logits(self, hidden: Tensor) -> Tensor:
        logits = torch.zeros(len(hidden), SIZES.vocab_size)
        for row, position in zip(logits, hidden[:, 0].long().tolist(), strict=True):
            slot = position - 1
            rank = self.order.index(slot) if slot in self.order else len(self.order)
            row[self.script[slot] if slot < len(self.script) else ROLES.fill_id] = 20.0 - 0.1 * rank - 0.001 * slot
        return logits


def make_row(
    name: str = "a",
    *,
    canvas: int = 12,
    prompt_tokens: int = 1,
    max_tokens: int = 64,
    sampling: Sampling | None = None,
    decoding: Decoding | None = None,
) -> Row:
    """A row whose prompt depends on its name and length."""
    generator = torch.Generator().manual_seed(sum(name.encode()) * 100 + prompt_tokens)
    forecast = Forecast(
        length_tokens=canvas,
        canvas_tokens=max_tokens,
        boundary=canvas - 1,
        detector="paper",
        score=1.0,
        jump=0.1,
        noise=0.01,
        snr=10.0,
        fallback=False,
    )
    return Row(
        id=name,
        prompt=EncodedPrompt(embeddings=torch.randn(prompt_tokens, SIZES.hidden_size, generator=generator)),
        forecast=forecast,
        sampling=sampling or Sampling(max_tokens=max_tokens),
        decoding=decoding or Decoding(),
    )


def make_engine(decoder: Decoder, *, prefix_lm: bool = True, config: EngineConfig | None = None) -> Engine:
    return Engine(decoder, ROLES, decode, config or EngineConfig(block_length=32), prefix_lm=prefix_lm)


def run_dry(engine: Engine, rows: Iterable[Row] = ()) -> dict[str, list[Delta]]:
    """Admit `rows` and step until idle; the deltas of every row."""
    engine.admit(list(rows))
    deltas: dict[str, list[Delta]] = {}
    while not engine.idle:
        for delta in engine.step():
            deltas.setdefault(delta.id, []).append(delta)
    return deltas


def outcome_of(deltas: Sequence[Delta]) -> Outcome:
    """The outcome, checked against what was streamed before it."""
    outcome = deltas[-1].outcome
    assert outcome is not None, deltas[-1].error
    assert "".join(delta.text for delta in deltas) == outcome.text
    assert not any(delta.last for delta in deltas[:-1])
    return outcome


def run_alone(engine: Engine, row: Row) -> Outcome:
    return outcome_of(run_dry(engine, [row])[row.id])
