"""Training with each embedding of the preset `peers`, against RPE."""

from collections.abc import Callable

import torch

from ldhd.bench.ratio import Case, in_turn, summary
from ldhd.experiments import RunConfig
from ldhd.experiments.loading import new_model, run_task
from ldhd.experiments.preset import depth
from ldhd.experiments.presets import PRESETS
from ldhd.train import TrainingData, new_state
from ldhd.train.loop import update

SHARES = (0.1, 0.3, 0.5, 0.7, 0.9)
"""The points of training, as shares of all steps, whose steps are timed: those of the final phase may cost less."""

AGAINST = "rpe"


def peers_cases(task: str = "addition", rounds: int = 15, batch: int | None = None) -> list[Case]:
    """Compare training steps of the preset's own runs on a task, each with its own model and fresh batches."""
    configs = {config.position: config for config in PRESETS["peers"].configs() if config.task == task}
    seconds = in_turn({name: _steps(config, batch) for name, config in configs.items()}, rounds)
    return [
        summary(f"training, {name}", _shape(config, batch), AGAINST, seconds[name], seconds[AGAINST], "cost")
        for name, config in configs.items()
    ]


def _steps(config: RunConfig, batch: int | None) -> Callable[[], None]:
    options = config.train.model_copy(update={} if batch is None else {"batch_size": batch})
    state = new_state(new_model(config), options)
    data = TrainingData(run_task(config), config.train_scales, options, config.seed)

    def act() -> None:
        for share in SHARES:
            state.step = round(share * options.steps)
            update(state, data, options, config.seed, torch.device("cpu"))

    return act


def _shape(config: RunConfig, batch: int | None) -> str:
    model = config.model_options
    size = f"{depth(model.layers)}, {model.heads} heads, dimension {model.dimension}"
    return f"{config.task}: {size}, batch {batch or config.train.batch_size}"
