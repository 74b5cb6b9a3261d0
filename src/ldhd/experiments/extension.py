"""A finished run, trained on: a run of its own that says which one it goes on from."""

import os
from collections.abc import Sequence
from pathlib import Path

from pydantic import ValidationError

from ldhd.experiments.config import RunConfig
from ldhd.experiments.parts import explain
from ldhd.experiments.record import read_config, read_record
from ldhd.train import TrainConfig


def extended(folder: Path, steps: int, schedule_steps: int | None = None) -> RunConfig:
    """The config of the run in `folder`, trained on to `steps` in all.

    The learning rate follows the cosine of `schedule_steps`; of the earlier run's `schedule_steps` where they are
    enough, so that training simply goes on; else a new cosine over all `steps`, entered where the earlier run ended.
    """
    if not (folder / "record.json").exists():
        raise ValueError(f"only a finished run can be extended, and {folder} holds no record.json")
    earlier, record = read_config(folder), read_record(folder)
    if not record.hash == earlier.hash == folder.resolve().name:
        raise ValueError(f"{folder} must have the name of its run, {earlier.hash}, to be extended")
    if steps <= earlier.train.steps:
        raise ValueError(f"{folder} was trained for {earlier.train.steps} steps already; --steps must be above that")
    before = earlier.train.schedule_steps
    kept = before if before is not None and before >= steps else None
    try:
        options = {**earlier.train.model_dump(), "steps": steps, "schedule_steps": schedule_steps or kept}
        train = TrainConfig(**options)
    except ValidationError as error:
        raise ValueError(explain(error, "train.")) from None
    return earlier.model_copy(update={"train": train, "extended_from": earlier.hash})


def common_folder(runs: Sequence[Path]) -> Path:
    """Return the folder that holds all of these runs; ValueError if they lie in several."""
    parents = [Path(os.path.normpath(run.absolute())).parent for run in runs]
    if len(set(parents)) > 1:
        raise ValueError("the runs to extend lie in several folders; extend those of one folder at a time")
    return runs[0].parent if runs[0].name not in ("", "..") else parents[0]
