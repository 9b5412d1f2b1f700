"""A case's first forward compared with what the reference saw there.

Legend: B rows, P prompt positions, G canvas slots, R rows of the reference's tensors (G, or G + 1 with the last prompt
position in front), D decoder width.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from seer_core.layers.attention import Attend, Behind, Remembering
from seer_core.models.decoder import Decoder

Case = dict[str, Any]
Numbers = dict[str, Tensor]


def check_first_forward(decoder: Decoder, case: Case, numbers: Numbers, prompt: Tensor | None = None) -> None:
    """Embeddings, every layer's stream and product, logits and their likeliest tokens are the reference's.

    `prompt` [B, P, D] are a prompt's embeddings where its ids alone are not enough.
    """
    prompt = decoder.embed(torch.tensor(prompt_rows(case))) if prompt is None else prompt
    check_embeddings(prompt, numbers)
    seen = first_forward(decoder, case, numbers, prompt)
    streams = [seen["embeddings"], *(seen[f"hidden.{layer}"] for layer in range(4)), seen["norm"]]
    torch.testing.assert_close(torch.stack(streams, 1), numbers["hidden"], atol=2e-3, rtol=1e-4)
    for layer in range(4):
        torch.testing.assert_close(seen[f"product.{layer}"], numbers[f"mlp_product.{layer}"], atol=2e-3, rtol=1e-4)
    columns = numbers["logit_columns"].long()
    torch.testing.assert_close(seen["logits"][..., columns], numbers["logits"], atol=1e-3, rtol=1e-4)
    check_likeliest(seen["logits"], numbers["argmax"], numbers["argmax_prob"])
    probabilities = seen["logits"].double().softmax(-1)
    negative_entropy = (probabilities * (probabilities + 1e-10).log()).sum(-1)
    torch.testing.assert_close(negative_entropy, numbers["neg_entropy"].double(), atol=1e-4, rtol=0)
    if "decision_argmax" in numbers:
        decided = decision(seen["logits"], case)
        check_likeliest(decided, numbers["decision_argmax"], numbers["decision_argmax_prob"])


def check_likeliest(logits: Tensor, token: Tensor, probability: Tensor) -> None:
    """The likeliest token of each row and its float64 probability."""
    likeliest = logits.double().softmax(-1).max(-1)
    assert torch.equal(likeliest.indices, token.long())
    torch.testing.assert_close(likeliest.values, probability.double(), atol=2e-5, rtol=0)


def prompt_rows(case: Case) -> list[list[int]]:
    """Prompt ids, one list per row of the batch."""
    ids = case["prompt_ids"]
    return ids if isinstance(ids[0], list) else [ids]


def decision(logits: Tensor, case: Case) -> Tensor:
    """What the reference decides on: guided where the case is, banned ids out. [B, R, V]"""
    settings = case["settings"]
    if settings.get("cfg_scale"):
        asked, blank = logits.chunk(2)
        logits = blank + (settings["cfg_scale"] + 1) * (asked - blank)
    decided = logits.clone()
    decided[..., settings.get("banned_ids", [])] = -torch.inf
    return decided


@torch.inference_mode()
def first_forward(decoder: Decoder, case: Case, numbers: Numbers, prompt: Tensor) -> Numbers:
    """The last R rows of the first denoising forward by name; with guidance the unconditional rows follow."""
    settings, rows = case["settings"], numbers["hidden"].shape[2]
    canvas = decoder.embed(torch.full((len(prompt), settings["gen_length"]), case["ids"]["mask"]))
    if settings.get("cfg_scale"):
        blank = decoder.embed(torch.full(prompt.shape[:2], case["ids"]["mask"]))
        prompt, canvas = torch.cat((prompt, blank)), torch.cat((canvas, canvas))
    length = prompt.shape[1] + canvas.shape[1]
    positions = numbers.get("position_ids", torch.arange(length).expand(len(prompt), -1))
    if settings.get("prefix_lm"):
        prompt_keys = Remembering()
        last = decoder.run(prompt, positions[..., : prompt.shape[1]], attend=prompt_keys)[:, -1:]
        written = _first_token(decoder, last, case, numbers)
        canvas = torch.cat((decoder.embed(written), canvas[:, 1:]), 1) if written is not None else canvas
        return _observed(decoder, canvas, positions[..., prompt.shape[1] :], Behind(prompt_keys.kept), rows)
    return _observed(decoder, torch.cat((prompt, canvas), 1), positions, Remembering(_allowed(case, length)), rows)


def _first_token(decoder: Decoder, last: Tensor, case: Case, numbers: Numbers) -> Tensor | None:
    """The prefill's own token [B, 1] where the reference writes one, and its logits checked."""
    logits = decoder.logits(last)
    columns = numbers["logit_columns"].long()
    torch.testing.assert_close(logits[..., columns], numbers["prefill_last_logits"], atol=1e-3, rtol=1e-4)
    expected = case["expected"].get("first_token_from_prefill")
    if expected is None:
        return None
    written = logits.argmax(-1)
    assert written.item() == expected
    return written


def _observed(decoder: Decoder, hidden: Tensor, positions: Tensor, attend: Attend, rows: int) -> Numbers:
    seen: Numbers = {"embeddings": hidden[:, -rows:]}

    def observe(layer: int, name: str, value: Tensor) -> None:
        seen[f"{name}.{layer}"] = value[:, -rows:]

    out = decoder.run(hidden, positions, attend=attend, observe=observe)[:, -rows:]
    return {**seen, "norm": decoder.norm(out), "logits": decoder.logits(out)}


def _allowed(case: Case, length: int) -> Tensor | None:
    """Keys that may be attended, bool [B, P + G]; the canvas always may."""
    mask = case["settings"].get("attention_mask") or case.get("attention_mask")
    if mask is None:
        return None
    given = torch.tensor(mask, dtype=torch.bool)
    return torch.nn.functional.pad(given, (0, length - given.shape[1]), value=True)


def check_embeddings(prompt: Tensor, numbers: Numbers) -> None:
    """Prompt embeddings [B, P, D] against the rows, sums and magnitudes that were recorded of the reference's."""
    named = {"first8": prompt[:, :8], "last8": prompt[:, -8:], "every61": prompt[:, ::61]}
    for name, rows in named.items():
        if f"embeds_{name}" in numbers:
            torch.testing.assert_close(rows, numbers[f"embeds_{name}"], atol=3e-4, rtol=1e-5)
    sums = prompt.double().sum(-1)
    torch.testing.assert_close(sums, numbers["embeds_row_sum"].double(), atol=5e-3, rtol=0)
    torch.testing.assert_close(prompt.abs().amax(-1), numbers["embeds_row_absmax"], atol=3e-4, rtol=1e-5)
