"""What a run uses where the user says nothing: chosen by tuning, see results/tuning.md."""

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Defaults:
    """Defaults of one task: the model's name, the training, and options of single embeddings."""

    model: str = "small"
    train: dict[str, Any] = field(default_factory=dict)
    position: dict[str, dict[str, Any]] = field(default_factory=dict)


DEFAULTS: dict[str, Defaults] = {
    "addition": Defaults(
        train={"steps": 1000, "weight_decay": 0.3},
        position={"rpe-square": {"per_head": False}},
    ),
}
"""Tasks that need other defaults than those of `TrainConfig` and of the embeddings."""
