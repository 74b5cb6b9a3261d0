"""Ten seeds as one model with batched weights: how much faster that could be at best."""

from collections.abc import Callable

import torch

from ldhd.bench.ratio import Case, in_turn, summary
from ldhd.experiments import make_config
from ldhd.experiments.loading import new_model, run_task
from ldhd.train import TrainingData, new_state
from ldhd.train.loop import update

SEEDS = 10


def seeds_cases(batches: tuple[int, ...] = (32, 256), rounds: int = 11) -> list[Case]:
    """Compare a step of one seed, ten times, with one step of one model on the instances of ten seeds.

    A model with the weights of ten seeds does the same work with smaller matrix products, so it cannot be faster than
    the latter.
    """
    cases = []
    for position in ("rpe-square", "latent-window"):
        for batch in batches:
            actions = {size: _step(position, size) for size in (batch, SEEDS * batch)}
            seconds = in_turn({str(size): action for size, action in actions.items()}, rounds)
            apart = [SEEDS * value for value in seconds[str(batch)]]
            shape = f"copy, {position}, batch {batch}"
            together = seconds[str(SEEDS * batch)]
            cases.append(summary(f"{SEEDS} seeds as one batch, at best", shape, "one by one", apart, together, "speed"))
    return cases


def _step(position: str, batch: int) -> Callable[[], object]:
    config = make_config("copy", position, settings={"train.batch_size": batch})
    state = new_state(new_model(config), config.train)
    data = TrainingData(run_task(config), config.train_scales, config.train, config.seed)
    return lambda: update(state, data, config.train, config.seed, torch.device("cpu"))
