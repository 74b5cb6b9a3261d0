"""The defaults of a run, chosen by tuning; see results/tuning.md."""

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Defaults:
    """A model, and settings by their dotted names."""

    model: str
    settings: dict[str, Any] = field(default_factory=dict)


RECIPE: dict[str, Any] = {
    "model.heads": 8,
    "model.mlps": 2,
    "model.weight_std": 0.08,
    "model.position_only": True,
    "model.log_length": False,
    "model.sharpen": 5.0,
    "model.null_lead": 1.0,
    "train.steps": 1000,
    "train.settle": 0.4,
    "train.samples": "endless",
    "train.learning_rate": 4e-3,
    "train.weight_decay": 0.1,
}
"""What makes a latent window generalise on every task; see docs/recipe.md."""

RECIPE_BY_TASK: dict[str, dict[str, Any]] = {
    "copy": {"position.absolute": True},
    # no digit of a sum needs an absolute place, and two heads must find all three delimiters, so all heads should try
    "addition": {"position.absolute": False},
    "addition-aligned": {"position.absolute": True},
    "parity": {"position.absolute": True},
    # carries and remainders that depend on three digits take longer
    "multiplication": {"position.absolute": True, "train.steps": 2000},
    # place 1 after a delimiter is also the first digit of the long operand, a shortcut that works up to scale 2
    "division": {"position.absolute": "start", "train.steps": 2000},
    "addition-mod10": {"position.absolute": True},
}


def defaults_of(task: str, position: str, model: str | None = None) -> Defaults:
    """Return the defaults of an embedding on a task; with an explicit model the recipe is not used."""
    if position == "latent-window" and model is None:
        return Defaults("small", {**RECIPE, **RECIPE_BY_TASK.get(task, {})})
    if task == "copy":
        # the smallest depth that fits within these steps: with one layer of four heads RPE-Square fits after 100 of
        # them, plain RPE not yet after 800; with eight heads some seeds of RPE-Square do not generalise
        train = {"train.steps": 800, "train.learning_rate": 2e-3, "train.weight_decay": 0.3}
        return Defaults(model or ("small" if position == "rpe-square" else "small-2"), train)
    if task == "addition":
        return Defaults(model or "base", {"train.steps": 1500, "train.weight_decay": 0.3})
    return Defaults(model or "base")
