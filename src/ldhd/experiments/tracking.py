"""Live logs of training with TensorBoard, Weights & Biases or Trackio, through their own libraries; off by default."""

import contextlib
from collections.abc import Callable, Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from ldhd.experiments.config import RunConfig
from ldhd.experiments.groups import settings_of
from ldhd.files import BadFileError
from ldhd.names import lookup_only

Log = Callable[[Mapping[str, float], int], Any]
"""Takes named values and the training step that they belong to."""
Close = Callable[[], Any]

PROJECT = "ldhd"
"""The project that runs are logged to, where a library has projects."""


def _tensorboard(config: RunConfig, folder: Path, step: int) -> tuple[Log, Close]:
    """Write event files into the folder of the run; those of a killed process beyond `step` are superseded."""
    from torch.utils.tensorboard import SummaryWriter

    if (folder / "tensorboard").is_symlink():
        raise BadFileError(f"{folder / 'tensorboard'} is a link, and nothing is written through it")
    writer = SummaryWriter(str(folder / "tensorboard" / config.label), purge_step=step)

    def log(values: Mapping[str, float], at: int) -> None:
        for name, value in values.items():
            writer.add_scalar(name, value, at)

    return log, writer.close


def _wandb(config: RunConfig, folder: Path, step: int) -> tuple[Log, Close]:
    import wandb

    run = wandb.init(
        project=PROJECT,
        id=config.hash,
        name=config.label,
        config={**settings_of(config), "seed": config.seed},
        dir=str(folder),
        resume="allow",
    )
    return run.log, run.finish


def _trackio(config: RunConfig, folder: Path, step: int) -> tuple[Log, Close]:
    import trackio

    settings = {**settings_of(config), "seed": config.seed}
    run = trackio.init(project=PROJECT, name=f"{config.label} {config.hash}", config=settings, resume="allow")
    return run.log, run.finish


TRACKERS: dict[str, Callable[[RunConfig, Path, int], tuple[Log, Close]]] = {
    "tensorboard": _tensorboard,
    "wandb": _wandb,
    "trackio": _trackio,
}
"""Opens the log of a run, given its config, its folder and the first step that will be logged."""


def check_tracker(name: str | None) -> None:
    """Raise ValueError if there is no tracker of this name, or its library is not installed."""
    if name is None:
        return
    lookup_only(name, TRACKERS, "log")
    if find_spec(name) is None:
        raise ValueError(f"{name} is not installed; in the folder of ldhd: pip install -e '.[{name}]'")


@contextlib.contextmanager
def tracking(name: str | None, config: RunConfig, folder: Path) -> Iterator[Log]:
    """Give a function that logs values of a run; its first call opens the log, and without a name it does nothing."""
    opened: list[tuple[Log, Close]] = []

    def log(values: Mapping[str, float], step: int) -> None:
        if name is None:
            return
        if not opened:
            opened.append(TRACKERS[name](config, folder, step))
        opened[0][0](values, step)

    try:
        yield log
    finally:
        for _, close in opened:
            close()


def scalars(row: Mapping[str, Any]) -> dict[str, float]:
    """Return the numbers of one row of a learning curve; those of a scale or a slot are named `accuracy/3`."""
    found: dict[str, float] = {}
    for key, value in row.items():
        if isinstance(value, Mapping):
            found |= {f"{key}/{name}": number for name, number in value.items()}
        elif isinstance(value, int | float) and key != "step":
            found[key] = value
    return found
