"""What a run uses where the user says nothing: chosen by tuning, see results/tuning.md."""

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Defaults:
    """Defaults of one task: the model, also by embedding, and the training."""

    model: str = "base"
    models: dict[str, str] = field(default_factory=dict)
    train: dict[str, Any] = field(default_factory=dict)


DEFAULTS: dict[str, Defaults] = {
    # the smallest depth that fits: with one layer of four heads only RPE-Square can fit copy, and only in the way that
    # generalises; with eight heads some seeds find a way that does not
    "copy": Defaults(
        model="small-2",
        models={"rpe-square": "small"},
        train={"steps": 800, "learning_rate": 2e-3, "weight_decay": 0.3},
    ),
    "addition": Defaults(train={"steps": 1500, "weight_decay": 0.3}),
}
"""Tasks that need other defaults than those of `Defaults` and `TrainConfig`."""
