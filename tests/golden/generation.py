"""A golden case as a row of our engine, and what each of its forwards wrote.

The families name the same settings differently; here they get our words.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import torch

from seer_core.config import LoopFacts
from seer_core.engine.row import ActiveRow, Row
from seer_core.families.family import Family
from seer_core.models.decoder import Decoder
from seer_core.probe.detectors import whole_canvas
from seer_core.prompt import EncodedPrompt
from seer_core.types import Decoding, Sampling, TokenRoles
from tests.solo import Stage

Case = dict[str, Any]
Written = list[list[int]]
"""[slot, token] pairs of one forward, by slot."""

REMASKING = {
    "low_confidence": "low_confidence",
    "maskgit_plus": "low_confidence",
    "entropy": "entropy",
    "entrophy": "entropy",
    "margin": "margin",
    "topk_margin": "margin",
    "autoregressive": "leftmost",
}


def loop_of(family: Family, settings: Case) -> LoopFacts:
    """The loop that the case was made with."""
    if "decoding_pipeline" in settings:
        loop = family.loops[settings["decoding_pipeline"]]
        return replace(loop, cache_after_first_step=settings["use_cache"])
    if "prefix_lm" in settings:
        return family.loops["prefix" if settings["prefix_lm"] else "full"]
    return family.loops["fast" if settings.get("function") == "mmu_generate_fast" else "full"]


def decoding_of(family: Family, settings: Case) -> Decoding:
    threshold = settings.get("alg_p_threshold")
    return Decoding(
        steps_per_token=_steps_per_token(settings),
        block_length=settings.get("block_length"),
        remasking=REMASKING[settings.get("remasking") or settings["alg"]],
        schedule=settings.get("schedule"),
        schedule_shift=settings.get("schedule_kwargs", {}).get("shift", 3.0),
        commit="schedule" if threshold == 0 else None,
        commit_threshold=threshold or None,
        guidance_scale=settings.get("cfg_scale", 0.0),
        early_exit=False,
    )


def _steps_per_token(settings: Case) -> float:
    length = settings["gen_length"]
    if "step_ratio" in settings:
        return float(settings["step_ratio"])
    if "step_per_block" in settings:
        return float(settings["step_per_block"] / settings["block_length"])
    return float(settings.get("steps", length) / length)


def row_of(name: str, family: Family, settings: Case, prompt: EncodedPrompt) -> Row:
    length = settings["gen_length"]
    return Row(
        id=name,
        prompt=prompt,
        forecast=whole_canvas(length),
        sampling=Sampling(max_tokens=length),
        decoding=decoding_of(family, settings),
    )


def text_prompts(decoder: Decoder, case: Case) -> list[EncodedPrompt]:
    """One prompt a row of the batch, without padding.

    A reference that pads behind a prompt counts the padding: its canvas stands that much further away.
    """
    ids = case["prompt_ids"]
    rows = ids if isinstance(ids[0], list) else [ids]
    masks = case["settings"].get("attention_mask") or case.get("attention_mask") or [[1] * len(row) for row in rows]
    return [_unpadded(decoder, row, mask[: len(row)]) for row, mask in zip(rows, masks, strict=True)]


@torch.inference_mode()
def _unpadded(decoder: Decoder, ids: Sequence[int], mask: Sequence[int]) -> EncodedPrompt:
    real = [token for token, held in zip(ids, mask, strict=True) if held]
    embeddings = decoder.embed(torch.tensor(real))
    if not mask[-1]:
        return EncodedPrompt(embeddings=embeddings, positions=torch.tensor([[len(ids) - 1]] * 3))
    return EncodedPrompt(embeddings=embeddings)


def spell(ids: Sequence[int]) -> str:
    return "".join(f" {token}" for token in ids)


def forwards_of(stage: Stage, row: ActiveRow) -> list[Written]:
    """Step the row until its canvas is complete."""
    forwards: list[Written] = []
    batch = stage.batch([row])
    while not row.canvas.complete:
        if not batch.current:
            batch = stage.batch([row])
        before = list(row.canvas.tokens)
        stage.step(batch)
        assert row.error is None
        forwards.append(changes(before, row.canvas.tokens))
    return forwards


def changes(before: Sequence[int], after: Sequence[int]) -> Written:
    pairs = enumerate(zip(before, after, strict=True))
    return [[slot, now] for slot, (was, now) in pairs if was != now]


def roles_of(case: Case, roles: TokenRoles) -> TokenRoles:
    """The checkpoint's roles, with just the stop tokens that the case names."""
    stops = case["settings"].get("stop_token_ids")
    return roles if stops is None else replace(roles, end_ids=frozenset(ids[0] for ids in stops))
