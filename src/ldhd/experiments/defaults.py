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
    # the smallest depth that fits within these steps: with one layer of four heads RPE-Square fits after 100 of them,
    # plain RPE not yet after 800; with eight heads some seeds of RPE-Square fit in a way that does not generalise
    "copy": Defaults(
        model="small-2",
        models={"rpe-square": "small"},
        train={"steps": 800, "learning_rate": 2e-3, "weight_decay": 0.3},
    ),
    "addition": Defaults(train={"steps": 1500, "weight_decay": 0.3}),
}
"""Tasks that need other defaults than those of `Defaults` and `TrainConfig`."""
