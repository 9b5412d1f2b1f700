"""The recipe: learns, resumes to the same weights, and leaves a checkpoint the family's own loader takes."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from seer_core.embedded.muon import orthogonalise
from seer_core.errors import ConfigError
from seer_core.families.registry import load_model, load_processor
from seer_core.tools.loss_curve import plot_loss, smoothed
from seer_core.tools.recipe import Phase, Recipe, ablation_recipe, learning_rate
from seer_core.tools.train_embedded import Trainer

TINY = Recipe(
    phases=(
        Phase(steps=2, scenes=2, canvases=2, rate_from=1.0, rate_to=0.5),
        Phase(steps=2, scenes=3, canvases=1, rate_from=0.5, rate_to=0.0),
    ),
    warm_up_steps=1,
    save_every=2,
)


def test_an_interrupted_run_ends_with_the_weights_of_an_uninterrupted_one(tmp_path: Path) -> None:
    Trainer(TINY, tmp_path / "whole").run()
    Trainer(TINY, tmp_path / "parts").run(until=2)
    second = Trainer(TINY, tmp_path / "parts")
    assert second.step == 2
    second.run()
    whole, parts = (load_model(tmp_path / name).state_dict() for name in ("whole", "parts"))
    assert all(torch.equal(whole[name], parts[name]) for name in whole)


def test_a_run_does_not_go_on_with_another_recipe(tmp_path: Path) -> None:
    Trainer(TINY, tmp_path).run(until=1)
    weights = (tmp_path / "state.pt").read_bytes()
    with pytest.raises(ConfigError, match=r"another recipe: penalty is 0\.15 there, 0\.0 here"):
        Trainer(replace(TINY, penalty=0.0), tmp_path)
    assert (tmp_path / "state.pt").read_bytes() == weights
    assert Trainer(TINY, tmp_path).step == 1


def test_a_run_leaves_a_whole_checkpoint_and_a_curve(tmp_path: Path) -> None:
    Trainer(TINY, tmp_path).run()
    losses = [json.loads(line)["loss"] for line in (tmp_path / "log.jsonl").read_text().splitlines()]
    assert len(losses) == 4
    assert losses[0] > 1
    assert load_processor(tmp_path).rules.min_images == 1
    plot_loss(tmp_path / "log.jsonl", tmp_path / "loss.png")
    assert (tmp_path / "loss.png").read_bytes().startswith(b"\x89PNG")


def test_the_rate_warms_up_falls_within_each_phase_and_ends_at_nothing() -> None:
    recipe = Recipe(warm_up_steps=10)
    first, second = recipe.phases
    rates = [learning_rate(step, recipe) for step in range(recipe.steps + 1)]
    assert rates[0] < rates[9]
    assert rates[10 : first.steps] == sorted(rates[10 : first.steps], reverse=True)
    assert rates[first.steps] == second.rate_from
    assert rates[recipe.steps] == 0


def test_ablations_differ_in_the_penalty_alone() -> None:
    assert replace(ablation_recipe(0.0, seed=3), penalty=0.15) == ablation_recipe(0.15, seed=3)
    assert ablation_recipe(0.0).steps == Recipe().steps / 2


def test_orthogonalised_updates_have_singular_values_near_one() -> None:
    torch.manual_seed(0)
    for shape in ((2, 16, 48), (2, 48, 16)):
        values = torch.linalg.svdvals(orthogonalise(torch.randn(shape)))
        assert values.min() > 0.5
        assert values.max() < 1.3


def test_smoothing_starts_with_what_there_is() -> None:
    import numpy as np

    assert smoothed(np.array([4.0, 2.0])).tolist() == [4.0, 3.0]
