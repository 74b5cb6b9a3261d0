"""The task and the model of a run: new, or with its trained weights."""

import contextlib
import json
import warnings
from pathlib import Path

import torch

from ldhd import seeds
from ldhd.experiments.config import RunConfig, device_name
from ldhd.experiments.folder import RunFolder
from ldhd.experiments.parts import build_model, load_task, outline
from ldhd.files import BadFileError
from ldhd.model import GPT, MODELS
from ldhd.tasks import Task
from ldhd.train import checkpoint


def run_task(config: RunConfig) -> Task:
    """Return the task in the format of the run's scales."""
    return load_task(config.task).for_scales((*config.seen_scales, *config.test_scales))


def new_model(config: RunConfig, device: str | None = None) -> GPT:
    """Return the untrained model of a run, on `device` or on that of its config."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seeds.derive(config.seed, "weights"))
        model = build_model(config.model_options, config.position, config.position_options, config.table_std)
    return model.to(device or config.device)


def load_run(path: Path, device: str = "cpu") -> tuple[RunConfig, Task, GPT]:
    """Return the config, the task and the trained model of the finished run in the folder `path`."""
    check_device(device)
    folder = RunFolder(path)
    if not path.is_dir():
        raise ValueError(f"no run at {path}: there is no such folder")
    if not folder.config_path.exists():
        raise ValueError(f"no run at {path}: it holds no {folder.config_path.name}")
    config = folder.config()
    if not folder.weights_path.exists():
        raise ValueError(f"the run at {path} is not finished: it has no {folder.weights_path.name}")
    outline(config.model_options, config.position, config.position_options)
    model = new_model(config, device)
    _load_weights(folder, config, model)
    model.eval()
    return config, run_task(config), model


def check_device(device: str) -> None:
    """Raise ValueError if torch does not find the device on this machine."""
    kind, _, index = device_name(device).partition(":")
    found = {"cpu": 1, "cuda": torch.cuda.device_count(), "mps": int(torch.backends.mps.is_available())}
    if int(index or 0) >= found[kind]:
        raise ValueError(f"device {device} was asked for, but torch does not find it here; use --device cpu")


def model_label(config: RunConfig) -> str:
    """Return the name of the model with the options that differ from those of its name."""
    usual = dict(MODELS[config.model])
    changed = {key: value for key, value in config.model_options if value != usual[key]}
    listed = ", ".join(f"{key}={json.dumps(value)}" for key, value in changed.items())
    return f"{config.model}({listed})" if listed else config.model


def _load_weights(folder: RunFolder, config: RunConfig, model: GPT) -> None:
    """Load the final weights; if they are damaged, those of the last checkpoint, which are the same."""
    try:
        checkpoint.load_model(folder.weights_path, model, config.hash)
    except BadFileError as error:
        try:
            checkpoint.load_final(folder.checkpoints, model, config.hash, config.train.steps)
        except (FileNotFoundError, BadFileError):
            raise error from None
        warnings.warn(f"{error}; its weights are those of the last checkpoint", stacklevel=2)
        with contextlib.suppress(OSError):  # the folder may be read-only
            checkpoint.save_model(folder.weights_path, model, config.hash)
