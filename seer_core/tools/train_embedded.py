"""The recipe of the embedded model: seeded, resumable, one command.

It drives the same processor, tower, projector and decoder that serve it: tiles, pooling, newline tokens and prefix-LM
attention. Nothing about the boundary is given to the model. The head also reads an early layer, with a small weight, so
that early layers do their share; and a penalty on the down projection's input there makes positions that need no
computation quiet.
"""

from __future__ import annotations

import json
import math
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy
from tqdm import tqdm

from seer_core.embedded.batches import Batch, BatchMaker
from seer_core.embedded.muon import Muon
from seer_core.errors import ConfigError
from seer_core.families.network import build_tiled
from seer_core.families.registry import inspect, load_processor
from seer_core.layers.attention import Behind, Remembering
from seer_core.models.vlm import VisionLanguageModel
from seer_core.tools.embedded_layout import write_skeleton, write_weights
from seer_core.tools.recipe import Recipe, learning_rate

QUIET = 1e-4
"""Mean |a| below which a position counts as quiet; keeps the root's slope finite."""


class Trainer:
    """One run in one folder: `state.pt` to resume from, `log.jsonl` with a line per step."""

    def __init__(self, recipe: Recipe, folder: Path) -> None:
        """Raises `ConfigError` for a folder that holds a run of another recipe."""
        self.recipe, self.folder = recipe, folder
        torch.manual_seed(recipe.seed)
        if not (folder / "config.json").exists():
            write_skeleton(folder)
        info = inspect(folder)
        self.info = info
        self.model = build_tiled(info)
        initialise(self.model)
        self.maker = BatchMaker(
            load_processor(folder),
            info.roles,
            info.local["turn_end_id"],
            seed=recipe.seed,
        )
        self.average = {name: value.detach().clone() for name, value in self.model.state_dict().items()}
        matrices, rest = split_parameters(self.model)
        self.optimisers = (Muon(matrices, recipe.muon_lr), torch.optim.AdamW(rest, recipe.adam_lr, weight_decay=0.0))
        self.step = 0
        self._resume()

    def run(self, until: int | None = None) -> None:
        """Train to step `until` (the last one), saving on the way; an interrupted run goes on from its last save."""
        last = self.recipe.steps if until is None else min(until, self.recipe.steps)
        bar = tqdm(total=last, initial=self.step, unit="step", desc="training")
        with (self.folder / "log.jsonl").open("a") as log:
            while self.step < last:
                entry = self.advance()
                log.write(json.dumps(entry) + "\n")
                if self.step % self.recipe.save_every == 0 or self.step == last:
                    log.flush()
                    self.save()
                bar.set_postfix(loss=f"{entry['loss']:.3f}", effort=f"{entry['effort']:.3f}")
                bar.update()
        bar.close()

    def advance(self) -> dict[str, float]:
        """One step; what it measured."""
        phase, _ = self.recipe.at(self.step)
        batch = self.maker.make(self.step, scenes=phase.scenes, canvases=phase.canvases)
        rate = learning_rate(self.step, self.recipe)
        for optimiser in self.optimisers:
            for group in optimiser.param_groups:
                group.setdefault("peak", group["lr"])
                group["lr"] = group["peak"] * rate
        logits, early, effort = forward(self.model, batch, self.recipe)
        weight = torch.from_numpy(batch.weight).flatten()
        holes = weight > 0
        target = torch.from_numpy(batch.target).flatten()[holes]
        loss = weighted_loss(logits, target, weight[holes])
        early_loss = weighted_loss(early, target, weight[holes])
        pressed = self.recipe.penalty * min(1.0, max(0.0, (self.step - self.recipe.penalty_from_step) / 400))
        (loss + self.recipe.early_weight * early_loss + pressed * effort).backward()
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        for optimiser in self.optimisers:
            optimiser.step()
            optimiser.zero_grad(set_to_none=True)
        self._average()
        hits = (logits.argmax(-1) == target).float().mean()
        self.step += 1
        return {
            "step": self.step - 1,
            "loss": loss.item(),
            "early_loss": early_loss.item(),
            "effort": effort.item(),
            "hit_rate": hits.item(),
            "canvas_tokens": batch.target.shape[1],
            "rate": rate,
        }

    @torch.no_grad()
    def _average(self) -> None:
        keep = min(self.recipe.average, (1 + self.step) / (10 + self.step))
        for name, value in self.model.state_dict().items():
            self.average[name].lerp_(value, 1 - keep)

    def save(self) -> None:
        """Write `state.pt`, and the averaged weights as the checkpoint."""
        state = {
            "step": self.step,
            "model": self.model.state_dict(),
            "average": self.average,
            "optimisers": [optimiser.state_dict() for optimiser in self.optimisers],
            "recipe": asdict(self.recipe),
        }
        torch.save(state, self.folder / "state.part")
        (self.folder / "state.part").replace(self.folder / "state.pt")
        write_weights(self.folder, self.average)

    def _resume(self) -> None:
        path = self.folder / "state.pt"
        if not path.exists():
            return
        state = torch.load(path, weights_only=True)
        self._check_recipe(state["recipe"])
        self.model.load_state_dict(state["model"])
        self.average = state["average"]
        for optimiser, saved in zip(self.optimisers, state["optimisers"], strict=True):
            optimiser.load_state_dict(saved)
        self.step = state["step"]

    def _check_recipe(self, saved: dict[str, Any]) -> None:
        held, own = (json.loads(json.dumps(recipe)) for recipe in (saved, asdict(self.recipe)))
        for name in {**held, **own}:
            if held.get(name) != own.get(name):
                raise ConfigError(
                    f"{self.folder} holds a run of another recipe: {name} is {held.get(name)!r} there,"
                    f" {own.get(name)!r} here; take another folder",
                    field="out",
                )


def weighted_loss(logits: Tensor, target: Tensor, weight: Tensor) -> Tensor:
    """Weighted mean cross entropy of logits [M, V] against ids [M]."""
    return (cross_entropy(logits, target, reduction="none") * weight).sum() / weight.sum()


def forward(model: VisionLanguageModel, batch: Batch, recipe: Recipe) -> tuple[Tensor, Tensor, Tensor]:
    """Logits [holes, V], logits read off the output of `early_layer`, and the effort of the penalised layers.

    Effort is the mean over positions of `sqrt(mean |a|)`: concave, so that it pays to be either at work or quiet.
    Each prompt runs once and attends to itself; its R canvases attend to it and to themselves.
    """
    decoder = model.decoder
    pixels = [torch.from_numpy(image.pixels) for image in batch.images]
    features = model.encode_views(pixels)
    embedded = [
        model.splice(torch.from_numpy(ids), [model.merge(views, image)])
        for ids, views, image in zip(batch.prompts, features, batch.images, strict=True)
    ]
    lengths = torch.tensor([len(rows) for rows in embedded])
    hidden = torch.nn.utils.rnn.pad_sequence(embedded, batch_first=True)  # [B, P, D]
    prompt_mask = torch.arange(hidden.shape[1]) < lengths[:, None]
    prompt_keys = Remembering(prompt_mask)
    decoder.run(hidden, torch.arange(hidden.shape[1]).expand(len(embedded), -1), attend=prompt_keys)
    rows, length = batch.canvas.shape
    repeats = rows // len(embedded)
    kept = {
        n: (k.repeat_interleave(repeats, 0), v.repeat_interleave(repeats, 0)) for n, (k, v) in prompt_keys.kept.items()
    }
    canvas_mask = torch.cat((prompt_mask.repeat_interleave(repeats, 0), torch.ones(rows, length, dtype=torch.bool)), 1)
    positions = lengths.repeat_interleave(repeats)[:, None] + torch.arange(length)
    sizes: list[Tensor] = []
    early: list[Tensor] = []

    def observe(layer: int, name: str, value: Tensor) -> None:
        if name == "hidden" and layer == recipe.early_layer:
            early.append(value)
        if name == "product" and layer in recipe.penalty_layers:
            sizes.append((value.abs().mean(-1) + QUIET).sqrt().mean())

    canvas = decoder.embed(torch.from_numpy(batch.canvas))
    hidden = decoder.run(canvas, positions, attend=Behind(kept, canvas_mask), observe=observe)
    holes = torch.from_numpy(batch.weight) > 0
    return decoder.logits(hidden[holes]), decoder.logits(early[0][holes]), torch.stack(sizes).mean()


def split_parameters(model: VisionLanguageModel) -> tuple[list[Tensor], list[Tensor]]:
    """Inner matrices for Muon; embeddings, head, norms, biases and the patch convolution for AdamW."""
    outer = ("decoder.embedding", "decoder.head", "tower.vision_model.embeddings")
    matrices: list[Tensor] = []
    rest: list[Tensor] = []
    for name, parameter in model.named_parameters():
        inner = parameter.ndim == 2 and not name.startswith(outer)
        (matrices if inner else rest).append(parameter)
    return matrices, rest


@torch.no_grad()
def initialise(model: VisionLanguageModel) -> None:
    """Normal weights by fan-in; the output of each block starts small."""
    for name, parameter in model.named_parameters():
        if parameter.ndim >= 2:
            spread = 1 / math.sqrt(parameter[0].numel())
            if name.endswith(("o_proj.weight", "down_proj.weight", "out_proj.weight", "fc2.weight")):
                spread *= 0.3
            parameter.normal_(0, 0.02 if "embedding.weight" in name else spread)
    model.newline.normal_(0, 0.02)
