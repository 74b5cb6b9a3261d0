"""The state of training: the model, its optimizer, and the progress so far."""

from dataclasses import dataclass, field
from typing import Any

import torch
from torch import nn

from ldhd.model import GPT
from ldhd.train.config import TrainConfig
from ldhd.train.precision import Precision, choose


@dataclass
class State:
    """Everything that training changes."""

    model: nn.Module
    optimizer: torch.optim.Optimizer
    precision: Precision | None
    """The arithmetic that training began with and keeps; None if an earlier version trained the model to its end."""
    step: int = 0
    seconds: float = 0.0
    metrics: list[dict[str, Any]] = field(default_factory=list)


def new_state(model: nn.Module, config: TrainConfig) -> State:
    """Return the initial state: AdamW with weight decay on parameters of two or more dimensions only."""
    dimension = model.config.dimension if isinstance(model, GPT) else 0
    precision = choose(config.precision, dimension, next(model.parameters()).device)
    parameters = ordered_parameters(model)
    groups = [
        {"params": [p for p in parameters if p.dim() >= 2], "weight_decay": config.weight_decay},
        {"params": [p for p in parameters if p.dim() < 2], "weight_decay": 0.0},
    ]
    return State(model, torch.optim.AdamW(groups, lr=config.learning_rate, fused=True), precision)


def ordered_parameters(model: nn.Module) -> list[nn.Parameter]:
    """Return the parameters in the order in which the optimizer has them: those with weight decay first."""
    return sorted(model.parameters(), key=lambda parameter: parameter.dim() < 2)
