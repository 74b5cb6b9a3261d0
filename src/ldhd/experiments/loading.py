"""The task and the model of a run: new and checked, or trained, to be evaluated anew or trained on."""

import contextlib
import json
import os
import warnings
from collections.abc import Sequence
from pathlib import Path

import torch
from pydantic import ValidationError

from ldhd import seeds
from ldhd.boolean.memory import check_memory
from ldhd.evaluate import ScaleResult, evaluate
from ldhd.evaluate.accuracy import check_decoding
from ldhd.evaluate.trace import check_trace
from ldhd.experiments.config import RunConfig, device_name
from ldhd.experiments.folder import RunFolder
from ldhd.experiments.packaged import run_path
from ldhd.experiments.parts import build_model, explain, load_task, outline
from ldhd.files import BadFileError
from ldhd.model import GPT, MODELS
from ldhd.positions import POSITIONS, Position
from ldhd.tasks import ALL_TASKS, Task
from ldhd.tasks.contract import malformed
from ldhd.train import TrainConfig, checkpoint, parallel

TRAINED = 4
"""Copies of the weights that training keeps: their gradients and the two moments of AdamW beside themselves."""


def run_task(config: RunConfig) -> Task:
    """Return the task in the format of the run's scales."""
    return load_task(config.task).for_scales((*config.seen_scales, *config.test_scales))


def new_model(config: RunConfig, device: str | None = None) -> GPT:
    """Return the untrained model of a run, on `device` or on that of its config."""
    size = load_task(config.task).vocabulary.size
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seeds.derive(config.seed, "weights"))
        model = build_model(config.model_options, config.position, config.position_options, config.table_std, size)
    return model.to(device or config.device)


def load_run(path: Path | str, device: str = "cpu", trust: bool = False) -> tuple[RunConfig, Task, GPT]:
    """Return the config, the task and the trained model of the finished run in the folder `path`.

    A user's own task or embedding that the config names is imported only with `trust`.
    """
    check_device(device)
    path = run_path(Path(path))
    folder = RunFolder(path)
    if not path.is_dir():
        raise ValueError(f"no run at {path}: there is no such folder")
    if not folder.config_path.exists():
        raise ValueError(f"no run at {path}: it holds no {folder.config_path.name}")
    config = folder.config()
    check_trusted(config, path, trust)
    if not (folder.weights_path.exists() or folder.is_finished):
        raise ValueError(f"the run at {path} is not finished: it has no {folder.weights_path.name}")
    model = _outline(config)
    try:
        checkpoint.check_weights(folder.weights_path, folder.checkpoints, model, config.hash, config.train.steps)
    except FileNotFoundError:
        raise ValueError(
            f"the run at {path} was kept without its weights: it has neither {folder.weights_path.name} nor a good "
            "checkpoint of its last step"
        ) from None
    model = new_model(config, device)
    _load_weights(folder, config, model)
    model.eval()
    return config, run_task(config), model


def check_trusted(config: RunConfig, source: object, trust: bool) -> None:
    """Raise ValueError if a config that was read from `source` names code to import, unless that is trusted."""
    names = own_names(config)
    if names and not trust:
        raise ValueError(
            f"{source} names code of its own: {' and '.join(names)} would be imported, which can do anything; "
            "look at it, then add --trust (in Python trust=True)"
        )


def own_names(config: RunConfig) -> list[str]:
    """Return the `module:NAME` in a config, which are imported when its task or its model is made."""
    names = [config.task] * (config.task not in ALL_TASKS)
    return names + [term for term in config.position.split("+") if term not in POSITIONS]


def evaluate_run(
    path: Path | str, scales: Sequence[int], instances: int | None = None, device: str = "cpu", trust: bool = False
) -> tuple[RunConfig, list[ScaleResult]]:
    """Evaluate the finished run in the folder `path` at any scales, on as many instances as in the run by default."""
    config, task, model = load_run(path, device, trust)
    _check_fits(model.position, task, scales, training=False)
    n = instances or config.test_instances
    return config, [evaluate(model, task, scale, n, config.seed) for scale in scales]


def extended(path: Path, steps: int, schedule_steps: int | None = None, trust: bool = False) -> RunConfig:
    """Return the config of a new run that trains the finished one in the folder `path` on, to `steps` in all.

    The learning rate follows a cosine over `schedule_steps`. By default these are the `schedule_steps` of the earlier
    run where they suffice, so that training simply continues, and else all `steps`.
    """
    folder = RunFolder(path)
    if not folder.is_finished:
        raise ValueError(f"only a finished run can be extended, and {path} holds no {folder.record_path.name}")
    earlier, record = folder.config(), folder.record()
    check_trusted(earlier, path, trust)
    if not record.hash == earlier.hash == path.resolve().name:
        raise ValueError(f"{path} must have the name of its run, {earlier.hash}, to be extended")
    if steps <= earlier.train.steps:
        raise ValueError(f"{path} was trained for {earlier.train.steps} steps already; --steps must be above that")
    before = earlier.train.schedule_steps
    schedule_steps = schedule_steps or (before if before is not None and before >= steps else None)
    try:
        train = TrainConfig(**{**earlier.train.model_dump(), "steps": steps, "schedule_steps": schedule_steps})
    except ValidationError as error:
        raise ValueError(explain(error, "train.")) from None
    return earlier.model_copy(update={"train": train, "extended_from": earlier.hash})


def common_folder(runs: Sequence[Path]) -> Path:
    """Return the folder that holds all of these runs; ValueError if they lie in several."""
    parents = [Path(os.path.normpath(run.absolute())).parent for run in runs]
    if len(set(parents)) > 1:
        raise ValueError("the runs to extend lie in several folders; extend those of one folder at a time")
    return runs[0].parent if runs[0].name not in ("", "..") else parents[0]


def check(config: RunConfig) -> None:
    """Raise ValueError for a config that could only fail later.

    Its device is absent, its strings do not fit, or its model, a batch, decoding or the trace takes too much memory.
    """
    check_device(config.device)
    task = run_task(config)
    model = _outline(config, TRAINED)
    _check_fits(model.position, task, config.seen_scales, training=True)
    _check_fits(model.position, task, config.test_scales, training=False)
    check_decoding(model, _longest(task, max(config.test_scales)))
    check_trace(config.model_options, _longest(task, trace_scale(config)))
    if config.device == "cpu" and config.model_options.architecture == "transformer":
        _check_batch(config, task)


def trace_scale(config: RunConfig) -> int:
    """Return the scale of the traced instance: the largest test scale up to twice the training scales, if any."""
    within = [scale for scale in config.test_scales if scale <= 2 * max(config.train_scales)]
    return max(within, default=min(config.test_scales))


def _check_batch(config: RunConfig, task: Task) -> None:
    """Raise ValueError if training cannot keep the attention of a batch, one number for each pair of its tokens.

    This bounds the memory of training from below: the last layer counts half, since only its answer tokens are needed.
    """
    model, own = config.model_options, config.train.batch_size // parallel.processes_started()
    lengths = [_longest(task, scale) for scale in config.train_scales]
    pairs = own * model.heads * sum(length**2 for length in lengths) / len(lengths)
    what = f"the attention of a batch of {own} strings of up to {max(lengths)} tokens"
    check_memory(int((model.layers - 0.5) * pairs), what, bytes_each=4)


def _longest(task: Task, scale: int) -> int:
    return len(task.instance(task.latent.longest(scale)).text)


def check_device(device: str) -> None:
    """Raise ValueError if torch does not find the device on this machine."""
    kind, _, index = device_name(device).partition(":")
    found = {"cpu": 1, "cuda": torch.cuda.device_count(), "mps": int(torch.backends.mps.is_available())}
    if int(index or 0) >= found[kind]:
        raise ValueError(f"device {device} was asked for, but torch does not find it here; use --device cpu")


def model_label(config: RunConfig) -> str:
    """Return the name of the model with the options that differ from those of its name."""
    usual = dict(MODELS.get(config.model, {}))
    changed = {key: value for key, value in config.model_options if value != usual.get(key)}
    listed = ", ".join(f"{key}={json.dumps(value)}" for key, value in changed.items())
    return f"{config.model}({listed})" if listed else config.model


def _outline(config: RunConfig, copies: int = 1) -> GPT:
    """Return a model to look at; ValueError if it cannot be built, or copies of its weights take too much memory."""
    size = load_task(config.task).vocabulary.size
    built = outline(config.model_options, config.position, config.position_options, size)
    weights = sum(parameter.numel() for parameter in built.parameters())
    check_memory(copies * weights, f"a model of {weights:.1e} parameters", bytes_each=4)
    return built


def _check_fits(position: Position, task: Task, scales: Sequence[int], training: bool) -> None:
    """Raise ValueError if strings of these scales are no strings of a task or are too long for the embedding."""
    longest = task.instance(task.latent.longest(max(scales)))
    wrong = malformed(longest)
    if wrong:
        raise ValueError(f"{task.name}: {wrong}")
    task.vocabulary.encode(longest.text)
    try:
        position.check_fits(task.vocabulary.as_digits(longest.text[:-1]), training)
    except ValueError as error:
        raise ValueError(f"{task.name} at scale {max(scales)} does not fit {error}") from None


def _load_weights(folder: RunFolder, config: RunConfig, model: GPT) -> None:
    """Load the final weights; if they are missing or damaged, those of the last checkpoint, which are the same."""
    try:
        checkpoint.load_model(folder.weights_path, model, config.hash)
    except (FileNotFoundError, BadFileError) as error:
        try:
            checkpoint.load_final(folder.checkpoints, model, config.hash, config.train.steps)
        except (FileNotFoundError, BadFileError):
            raise error from None
        problem = f"{folder.weights_path} is missing" if isinstance(error, FileNotFoundError) else error
        warnings.warn(f"{problem}; its weights are those of the last checkpoint", stacklevel=2)
        with contextlib.suppress(OSError):  # the folder may be read-only
            checkpoint.save_model(folder.weights_path, model, config.hash)
