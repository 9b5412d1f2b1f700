"""Every number of the embedded model's training, and the learning rate they make. Knows no tensors."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Phase:
    """A stretch of steps: scenes a step, canvases a scene, and the share of the peak rates, from first to last step."""

    steps: int
    scenes: int
    canvases: int
    rate_from: float
    rate_to: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """Every number of a training run. Many canvases a scene teach to see; many scenes teach to answer in one word."""

    seed: int = 0
    phases: tuple[Phase, ...] = (
        Phase(steps=1000, scenes=32, canvases=2, rate_from=1.0, rate_to=0.25),
        Phase(steps=1400, scenes=64, canvases=1, rate_from=0.45, rate_to=0.0),
    )
    muon_lr: float = 0.012
    adam_lr: float = 3e-3
    warm_up_steps: int = 100
    penalty: float = 0.15
    penalty_layers: tuple[int, ...] = (2, 3)
    penalty_from_step: int = 400
    early_layer: int = 3
    early_weight: float = 0.3
    average: float = 0.998
    save_every: int = 100

    @property
    def steps(self) -> int:
        return sum(phase.steps for phase in self.phases)

    def at(self, step: int) -> tuple[Phase, int]:
        """The phase of a step, and the step's number in it."""
        for phase in self.phases:
            if step < phase.steps:
                return phase, step
            step -= phase.steps
        return self.phases[-1], self.phases[-1].steps


def ablation_recipe(penalty: float, *, seed: int = 0) -> Recipe:
    """Half the steps, and this activation penalty: to compare checkpoints that differ in it alone."""
    return Recipe(
        seed=seed,
        phases=(
            Phase(steps=600, scenes=32, canvases=2, rate_from=1.0, rate_to=0.25),
            Phase(steps=600, scenes=64, canvases=1, rate_from=0.45, rate_to=0.0),
        ),
        penalty=penalty,
        penalty_from_step=240,
    )


def learning_rate(step: int, recipe: Recipe) -> float:
    """Share of the peak rate: warm-up at the very start, a straight line within each phase."""
    phase, inside = recipe.at(step)
    warm = min(1.0, (step + 1) / recipe.warm_up_steps)
    return warm * (phase.rate_from + (phase.rate_to - phase.rate_from) * inside / phase.steps)
