"""The defaults of a run, chosen by tuning; see results/tuning.md."""

from typing import Any

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


def defaults_of(task: str, position: str, model: str | None = None) -> tuple[str, dict[str, Any]]:
    """Return the model of an embedding on a task, and its settings; with an explicit model the recipe is not used."""
    if position == "latent-window" and model is None:
        return "small", {**RECIPE, **RECIPE_BY_TASK.get(task, {})}
    if task == "copy":
        # the smallest depth that fits within these steps: with one layer of four heads RPE-Square fits after 100 of
        # them, plain RPE not yet after 800; with eight heads some seeds of RPE-Square do not generalise
        train = {"train.steps": 800, "train.learning_rate": 2e-3, "train.weight_decay": 0.3}
        return model or ("small" if position == "rpe-square" else "small-2"), train
    return model or "base", {"train.steps": 1500, "train.weight_decay": 0.3} if task == "addition" else {}
