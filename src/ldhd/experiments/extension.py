"""Continue a finished run: a new run that names the one it extends."""

import os
from collections.abc import Sequence
from pathlib import Path

from pydantic import ValidationError

from ldhd.experiments.config import RunConfig
from ldhd.experiments.folder import RunFolder
from ldhd.experiments.parts import explain
from ldhd.train import TrainConfig


def extended(path: Path, steps: int, schedule_steps: int | None = None) -> RunConfig:
    """Return the config of the run in the folder `path`, trained on to `steps` in all.

    The learning rate follows a cosine over `schedule_steps`. By default these are the `schedule_steps` of the earlier
    run where they suffice, so that training simply continues, and else all `steps`.
    """
    folder = RunFolder(path)
    if not folder.record_path.exists():
        raise ValueError(f"only a finished run can be extended, and {path} holds no {folder.record_path.name}")
    earlier, record = folder.config(), folder.record()
    if not record.hash == earlier.hash == path.resolve().name:
        raise ValueError(f"{path} must have the name of its run, {earlier.hash}, to be extended")
    if steps <= earlier.train.steps:
        raise ValueError(f"{path} was trained for {earlier.train.steps} steps already; --steps must be above that")
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
