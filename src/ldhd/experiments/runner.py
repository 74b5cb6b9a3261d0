"""One run: config -> model -> training -> evaluation -> record, resumable at any point."""

import contextlib
import json
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

import ldhd
from ldhd import seeds
from ldhd.evaluate import ScaleResult, evaluate, trace
from ldhd.experiments.config import RunConfig, device_name
from ldhd.experiments.parts import build_model, load_task, outline
from ldhd.experiments.record import (
    FAILURE,
    FITTED,
    Record,
    finished,
    read_config,
    read_metrics,
    read_record,
    source_commit,
)
from ldhd.files import BadFileError, remove_leftovers, write_json, write_lines
from ldhd.lease import Lease, holding
from ldhd.messages import Interrupted
from ldhd.model import GPT, MODELS
from ldhd.positions import Position
from ldhd.process import prepare
from ldhd.tasks import Task
from ldhd.tasks.tokens import encode
from ldhd.train import State, checkpoint, new_state, parallel, train


@dataclass(frozen=True)
class Progress:
    """Where a run is: `done` of `total` steps or scales of its `stage`."""

    run: str
    """Its hash."""
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
    wait: bool = True,
) -> Record:
    """The record of `config`, from its folder if it is finished, otherwise by training on from its checkpoint.

    While another process works on the same run this one waits for it, or raises HeldError without `wait`.
    """
    folder = out / config.hash
    record = finished(folder, config)
    if record is not None:
        parallel.agree(False)
        return record
    check(config)

    def on_wait() -> None:
        on_progress(Progress(config.hash, config.label, "waiting", 0, 1))

    with holding(folder, wait=wait, stop=stop, on_wait=on_wait) as lease:
        record = finished(folder, config)  # by another process, meanwhile
        if record is not None:
            parallel.agree(False)
            return record
        return _run(config, folder, lease, threads, command, on_progress, stop)


def follow(config: RunConfig, threads: int, stop: Callable[[], bool]) -> None:
    """What every process but the first does while that one does `run`: train along, if there is anything to train."""
    if not parallel.agree(False):
        return
    model = new_model(config)
    prepare(threads)
    state = new_state(model, config.train)
    parallel.share(state)
    train(state, run_task(config), config.train_scales, config.train, config.seed, stop=stop)
    if state.step < config.train.steps:
        raise Interrupted(f"{config.label} stopped at step {state.step} of {config.train.steps}")


def _run(
    config: RunConfig,
    folder: Path,
    lease: Lease,
    threads: int,
    command: str,
    on_progress: OnProgress,
    stop: Callable[[], bool],
) -> Record:
    task = run_task(config)
    model = new_model(config)
    prepare(threads)
    _tidy(folder, config)
    state = _trained(config, folder, lease, task, model, on_progress, stop)
    results = _evaluated(config, task, model, on_progress, stop)
    example = example_scale(config)
    traced = trace(model, task.sample(example, seeds.generator(0, "trace", task.name, example)))
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
        extended_from=config.extended_from,
    )
    lease.check()
    write_json(folder / "trace.json", traced.document(task.needs(traced.instance), config.position))
    write_json(folder / "record.json", record.model_dump(mode="json"))
    (folder / FAILURE).unlink(missing_ok=True)
    return record


def check(config: RunConfig) -> None:
    """Refuse a config that could only fail later: a device that is absent, strings that do not fit."""
    _check_device(config.device)
    task = run_task(config)
    position = outline(config.model_options, config.position, config.position_options).position
    _check_fits(position, task, config.seen_scales, training=True)
    _check_fits(position, task, config.test_scales, training=False)


def example_scale(config: RunConfig) -> int:
    """The scale of the instance a run leaves its trace on: the largest tested up to twice the training scales."""
    within = [scale for scale in config.test_scales if scale <= 2 * max(config.train_scales)]
    return max(within, default=min(config.test_scales))


def run_task(config: RunConfig) -> Task:
    """The task in the format of this run's scales."""
    return load_task(config.task).for_scales((*config.seen_scales, *config.test_scales))


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
    _load_weights(folder, config, model)
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


def _load_weights(folder: Path, config: RunConfig, model: GPT) -> None:
    """The final weights; if they are damaged, those of the last checkpoint, which are the same."""
    weights = folder / "model.safetensors"
    try:
        checkpoint.load_model(weights, model, config.hash)
    except BadFileError as error:
        try:
            checkpoint.load_final(folder / "checkpoints", model, config.hash, config.train.steps)
        except (FileNotFoundError, BadFileError):
            raise error from None
        warnings.warn(f"{error}; its weights are those of the last checkpoint", stacklevel=2)
        with contextlib.suppress(OSError):  # a folder that may only be read
            checkpoint.save_model(weights, model, config.hash)


def _tidy(folder: Path, config: RunConfig) -> None:
    """The folder as a run must find it: nothing half-written, the config in place, and a word on what is damaged."""
    for place in (folder, folder / "checkpoints"):
        remove_leftovers(place)
    if not _is_good(folder / "config.json", lambda: read_config(folder).hash, config.hash):
        write_json(folder / "config.json", config.model_dump(mode="json"))
    _is_good(folder / "record.json", lambda: read_record(folder).hash, config.hash)
    _is_good(folder / "metrics.jsonl", lambda: _metrics_owner(folder, config), config.hash)


def _metrics_owner(folder: Path, config: RunConfig) -> str:
    """The run itself, since lines do not name it; BadFileError if it was finished and the last line is not there."""
    if not _is_at_end(read_metrics(folder), config) and (folder / "record.json").exists():
        raise BadFileError(f"{folder / 'metrics.jsonl'} lacks its last lines")
    return config.hash


def _is_at_end(metrics: list[dict[str, Any]], config: RunConfig) -> bool:
    """Whether metrics go to the last step."""
    return bool(metrics) and metrics[-1].get("step") == config.train.steps


def _is_good(path: Path, owner: Callable[[], object], expected: str) -> bool:
    """Whether a file is there, whole and of the right run; a warning if it is there but not good."""
    try:
        found = owner()
        if found != expected:
            raise BadFileError(f"{path} belongs to run {found}, not to {expected}")
    except FileNotFoundError:
        return False
    except BadFileError as error:
        warnings.warn(f"{error}; it is written again", stacklevel=2)
        return False
    return True


def _check_device(device: str) -> None:
    kind, _, index = device_name(device).partition(":")
    found = {"cpu": 1, "cuda": torch.cuda.device_count(), "mps": int(torch.backends.mps.is_available())}
    if int(index or 0) >= found[kind]:
        raise ValueError(f"device {device} was asked for, but torch does not find it here; use --device cpu")


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
    usual = dict(MODELS[config.model])
    changed = {key: value for key, value in config.model_options if value != usual[key]}
    listed = ", ".join(f"{key}={json.dumps(value)}" for key, value in changed.items())
    return f"{config.model}({listed})" if listed else config.model


def _trained(
    config: RunConfig,
    folder: Path,
    lease: Lease,
    task: Task,
    model: GPT,
    on_progress: OnProgress,
    stop: Callable[[], bool],
) -> State:
    """The state at the end of training, from the newest checkpoint on."""
    state = new_state(model, config.train)
    if not checkpoint.restore(folder / "checkpoints", state, config.hash) and not _trained_before(
        state, folder, config
    ):
        _extend(state, folder, task, config, stop)

    parallel.agree(True)
    parallel.share(state)

    def on_step(state: State, loss: float) -> None:
        if state.step % config.train.checkpoint_every == 0 or state.step == config.train.steps:
            _save(folder, lease, state, config)
        accuracy = state.metrics[-1]["accuracy"] if state.metrics else None
        on_progress(Progress(config.hash, config.label, "training", state.step, config.train.steps, loss, accuracy))

    train(
        state,
        task,
        config.train_scales,
        config.train,
        config.seed,
        test_scales=config.test_scales,
        on_step=on_step,
        stop=stop,
    )
    if state.step < config.train.steps:
        _save(folder, lease, state, config)
        raise Interrupted(f"{config.label} stopped at step {state.step} of {config.train.steps}")
    lease.check()
    write_lines(folder / "metrics.jsonl", state.metrics)
    checkpoint.save_model(folder / "model.safetensors", model, config.hash)
    return state


def _trained_before(state: State, folder: Path, config: RunConfig) -> bool:
    """Whether the final weights are there though no checkpoint is; the time training took is not known then."""
    try:
        metrics = read_metrics(folder)
        if not _is_at_end(metrics, config):
            return False
        checkpoint.load_model(folder / "model.safetensors", state.model, config.hash)
    except (FileNotFoundError, BadFileError):
        return False
    warnings.warn(f"{folder} holds weights but no checkpoint: its seconds of training are given as 0", stacklevel=2)
    state.step, state.metrics = config.train.steps, metrics
    return True


def _extend(state: State, folder: Path, task: Task, config: RunConfig, stop: Callable[[], bool]) -> None:
    """Start from the last state of the run this one extends, if it does; it lies beside this one."""
    if config.extended_from is None:
        return
    before = folder.parent / config.extended_from
    if not (before / "config.json").exists():
        raise ValueError(f"{config.hash} extends the run {config.extended_from}, which is not in {folder.parent}")
    earlier = read_config(before)
    if not checkpoint.restore(before / "checkpoints", state, earlier.hash):
        raise BadFileError(f"{config.hash} extends {before}, which has no good checkpoint")
    train(state, task, earlier.train_scales, earlier.train, earlier.seed, stop=stop)  # if its last one was damaged
    if state.step < earlier.train.steps:
        raise Interrupted(f"{config.label} stopped before its first step")


def _save(folder: Path, lease: Lease, state: State, config: RunConfig) -> None:
    lease.check()
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
        on_progress(Progress(config.hash, config.label, "testing", done, len(scales)))
        results[scale] = evaluate(model, task, scale, config.test_instances, config.seed)
    on_progress(Progress(config.hash, config.label, "done", 1, 1))
    return results
