"""One run: config -> model -> training -> evaluation -> record, resumable at any point."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import torch

import ldhd
from ldhd import seeds
from ldhd.evaluate import ScaleResult, evaluate
from ldhd.experiments.config import RunConfig
from ldhd.experiments.parts import build_model, load_task, outline
from ldhd.experiments.record import FITTED, Record, read_config, read_record, source_commit
from ldhd.files import BadFileError, write_json, write_lines
from ldhd.messages import Interrupted
from ldhd.model import GPT, MODELS
from ldhd.names import lookup_only
from ldhd.positions import Position
from ldhd.process import prepare
from ldhd.tasks import Task
from ldhd.tasks.tokens import encode
from ldhd.train import State, checkpoint, new_state, train


@dataclass(frozen=True)
class Progress:
    """Where a run is: `done` of `total` steps or scales of its `stage`."""

    label: str
    stage: str
    done: int
    total: int
    loss: float | None = None
    accuracy: dict[str, float] | None = None


OnProgress = Callable[[Progress], None]


def run(
    config: RunConfig,
    out: Path,
    *,
    threads: int = 1,
    command: str = "",
    on_progress: OnProgress = lambda progress: None,
    stop: Callable[[], bool] = lambda: False,
) -> Record:
    """The record of `config`, from its folder if it is finished, otherwise by training on from its checkpoint."""
    folder = out / config.hash
    if (folder / "record.json").exists():
        return _finished(folder, config)
    check(config)
    task = run_task(config)
    model = new_model(config)
    prepare(threads)
    write_json(folder / "config.json", config.model_dump(mode="json"))
    state = _trained(config, folder, task, model, on_progress, stop)
    results = _evaluated(config, task, model, on_progress, stop)
    record = Record(
        hash=config.hash,
        task=config.task,
        position=config.position,
        model=model_label(config),
        seed=config.seed,
        train_scales=list(config.train_scales),
        fitted=all(results[scale].exact >= FITTED for scale in config.train_scales),
        results=[results[scale] for scale in config.test_scales],
        steps=state.step,
        seconds=round(state.seconds, 2),
        threads=threads,
        version=ldhd.__version__,
        commit=source_commit(),
        command=command,
    )
    write_json(folder / "record.json", record.model_dump(mode="json"))
    return record


def check(config: RunConfig) -> None:
    """Refuse a config that could only fail later: a device that is absent, strings that do not fit."""
    _check_device(config.device)
    task = run_task(config)
    position = outline(config.model_options, config.position, config.position_options).position
    _check_fits(position, task, config.train_scales, training=True)
    _check_fits(position, task, config.test_scales, training=False)


def run_task(config: RunConfig) -> Task:
    """The task in the format of this run's scales."""
    return load_task(config.task).for_scales((*config.train_scales, *config.test_scales))


def new_model(config: RunConfig, device: str | None = None) -> GPT:
    """The untrained model of a run."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seeds.derive(config.seed, "weights"))
        model = build_model(config.model_options, config.position, config.position_options)
    return model.to(device or config.device)


def load_run(folder: Path, device: str = "cpu") -> tuple[RunConfig, Task, GPT]:
    """A finished run's config, task and trained model."""
    _check_device(device)
    if not folder.is_dir():
        raise ValueError(f"no run at {folder}: there is no such folder")
    if not (folder / "config.json").exists():
        raise ValueError(f"no run at {folder}: it holds no config.json")
    config = read_config(folder)
    weights = folder / "model.safetensors"
    if not weights.exists():
        raise ValueError(f"the run at {folder} is not finished: it has no model.safetensors")
    outline(config.model_options, config.position, config.position_options)
    model = new_model(config, device)
    checkpoint.load_model(weights, model, config.hash)
    model.eval()
    return config, run_task(config), model


def evaluate_run(
    folder: Path, scales: tuple[int, ...], instances: int | None = None, device: str = "cpu"
) -> tuple[RunConfig, list[ScaleResult]]:
    """A finished run at any scales, without training."""
    config, task, model = load_run(folder, device)
    _check_fits(model.position, task, scales, training=False)
    n = instances or config.test_instances
    return config, [evaluate(model, task, scale, n, config.seed) for scale in scales]


def _finished(folder: Path, config: RunConfig) -> Record:
    record = read_record(folder)
    if record.hash != config.hash:
        raise BadFileError(f"{folder / 'record.json'} belongs to run {record.hash}, not to {config.hash}")
    return record


def _check_device(device: str) -> None:
    available = {"cpu": True, "cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available()}
    if not lookup_only(device, available, "device"):
        raise ValueError(f"device {device} was asked for, but torch finds none here; use --device cpu")


def _check_fits(position: Position, task: Task, scales: tuple[int, ...], training: bool) -> None:
    """Refuse scales whose strings hold foreign characters or more than the position embedding can place."""
    longest = task.instance(task.latent.longest(max(scales)))
    encode(longest.text)
    try:
        position.check_fits(longest.text[:-1], training)
    except ValueError as error:
        raise ValueError(f"{task.name} at scale {max(scales)} does not fit {error}") from None


def model_label(config: RunConfig) -> str:
    """The model's name with what was changed of it."""
    usual = MODELS[config.model].model_dump()
    changed = {key: value for key, value in config.model_options.model_dump().items() if value != usual[key]}
    listed = ", ".join(f"{key}={json.dumps(value)}" for key, value in changed.items())
    return f"{config.model}({listed})" if listed else config.model


def _trained(
    config: RunConfig, folder: Path, task: Task, model: GPT, on_progress: OnProgress, stop: Callable[[], bool]
) -> State:
    """The state at the end of training, from the newest checkpoint on."""
    state = new_state(model, config.train)
    checkpoints = folder / "checkpoints"
    checkpoint.restore(checkpoints, state, config.hash)

    def on_step(state: State, loss: float) -> None:
        if state.step % config.train.checkpoint_every == 0 or state.step == config.train.steps:
            _save(folder, state, config)
        accuracy = state.metrics[-1]["accuracy"] if state.metrics else None
        on_progress(Progress(config.label, "training", state.step, config.train.steps, loss, accuracy))

    train(state, task, config.train_scales, config.train, config.seed, on_step=on_step, stop=stop)
    if state.step < config.train.steps:
        _save(folder, state, config)
        raise Interrupted(f"{config.label} stopped at step {state.step} of {config.train.steps}")
    checkpoint.save_model(folder / "model.safetensors", model, config.hash)
    return state


def _save(folder: Path, state: State, config: RunConfig) -> None:
    write_lines(folder / "metrics.jsonl", state.metrics)
    checkpoint.save(folder / "checkpoints", state, config.hash)


def _evaluated(
    config: RunConfig, task: Task, model: GPT, on_progress: OnProgress, stop: Callable[[], bool]
) -> dict[int, ScaleResult]:
    """Accuracy at every test scale and, to know whether the run is fitted, at every training scale."""
    scales = sorted({*config.train_scales, *config.test_scales})
    results = {}
    for done, scale in enumerate(scales):
        if stop():
            raise Interrupted(f"{config.label} stopped while testing")
        on_progress(Progress(config.label, "testing", done, len(scales)))
        results[scale] = evaluate(model, task, scale, config.test_instances, config.seed)
    on_progress(Progress(config.label, "done", 1, 1))
    return results
