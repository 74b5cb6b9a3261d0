"""Several seeds as one model with batched weights: how much faster that could be at best."""

from collections.abc import Callable

import torch

from ldhd.bench.ratio import Case, in_turn, summary
from ldhd.experiments import make_config
from ldhd.experiments.loading import new_model, run_task
from ldhd.train import TrainingData, new_state
from ldhd.train.loop import update

SEEDS = (5, 10)
"""Ten seeds in one process, or five in each of two."""


def seeds_cases(batches: tuple[int, ...] = (32, 256), rounds: int = 11) -> list[Case]:
    """Compare a step of one seed, as often as there are seeds, with one step of one model on the instances of all.

    A model with the weights of several seeds does the same work with smaller matrix products, so it cannot be faster
    than the latter.
    """
    cases = []
    for position in ("rpe-square", "latent-window"):
        for batch in batches:
            seconds = in_turn({str(count): _step(position, count * batch) for count in (1, *SEEDS)}, rounds)
            shape = f"copy, {position}, batch {batch}"
            for count in SEEDS:
                apart, together = [count * value for value in seconds["1"]], seconds[str(count)]
                case = f"{count} seeds as one batch, at best"
                cases.append(summary(case, shape, "one by one", apart, together, "speed"))
    return cases


def _step(position: str, batch: int) -> Callable[[], object]:
    config = make_config("copy", position, settings={"train.batch_size": batch})
    state = new_state(new_model(config), config.train)
    data = TrainingData(run_task(config), config.train_scales, config.train, config.seed)
    return lambda: update(state, data, config.train, config.seed, torch.device("cpu"))
