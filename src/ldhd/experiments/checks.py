"""What is refused before training: a device that is absent, and strings that do not fit."""

from ldhd.experiments.config import RunConfig
from ldhd.experiments.loading import check_device, run_task
from ldhd.experiments.parts import outline
from ldhd.positions import Position
from ldhd.tasks import Task
from ldhd.tasks.tokens import encode


def check(config: RunConfig) -> None:
    """Raise ValueError for a config that could only fail later."""
    check_device(config.device)
    task = run_task(config)
    position = outline(config.model_options, config.position, config.position_options).position
    check_fits(position, task, config.seen_scales, training=True)
    check_fits(position, task, config.test_scales, training=False)


def check_fits(position: Position, task: Task, scales: tuple[int, ...], training: bool) -> None:
    """Raise ValueError if strings of these scales hold unknown characters or are too long for the embedding."""
    longest = task.instance(task.latent.longest(max(scales)))
    encode(longest.text)
    try:
        position.check_fits(longest.text[:-1], training)
    except ValueError as error:
        raise ValueError(f"{task.name} at scale {max(scales)} does not fit {error}") from None
