"""One run: config -> model -> training -> evaluation -> record, resumable at any point."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import ldhd
from ldhd import seeds
from ldhd.evaluate import ScaleResult, evaluate, evaluate_hard, trace
from ldhd.experiments.config import RunConfig
from ldhd.experiments.folder import FITTED, Record, RunFolder
from ldhd.experiments.loading import check, model_label, new_model, run_task, trace_scale
from ldhd.experiments.start import Start, source_commit, source_start
from ldhd.experiments.studies import Study
from ldhd.experiments.tracking import Log, check_tracker, scalars, tracking
from ldhd.files import BadFileError
from ldhd.lease import holding
from ldhd.model import GPT
from ldhd.process import Interrupted, prepare
from ldhd.tasks import Task
from ldhd.train import State, checkpoint, new_state, parallel, train


@dataclass(frozen=True)
class Progress:
    """A run has completed `done` of the `total` steps or scales of its `stage`."""

    run: str
    """The hash of the run."""
    label: str
    stage: str
    done: int = 0
    total: int = 1
    loss: float | None = None
    accuracy: dict[str, float] | None = None


ELSEWHERE = "in another process"
"""The stage of a run of a sweep that another process has."""
OnProgress = Callable[[Progress], None]
Stop = Callable[[], bool]
"""Asked again and again during a run; the run stops once it returns True."""


@dataclass(frozen=True)
class Job:
    """A run to be done in the folder `out`."""

    config: RunConfig
    out: Path
    threads: int
    command: str
    log: str | None = None
    """Where training is logged live: a name in `tracking.TRACKERS`, or nowhere."""


def run(
    config: RunConfig,
    out: Path | str,
    *,
    threads: int = 1,
    command: str = "",
    log: str | None = None,
    on_progress: OnProgress = lambda progress: None,
    stop: Stop = lambda: False,
) -> Record:
    """Return the record of `config`: a stored one if the run is finished in `out`, else by training and testing it.

    Training resumes from the newest checkpoint. While another process works on the same run, this one waits for it.
    With `log`, one of `tensorboard`, `wandb` and `trackio`, training can be followed live there.
    """
    out = Path(out)
    record = Study(out).finished(config)
    if record is not None:
        parallel.broadcast_flag(False)
        return record
    check(config)
    check_tracker(log)
    return run_unfinished(Job(config, out, threads, command, log), on_progress, stop)


def run_unfinished(job: Job, on_progress: OnProgress, stop: Stop, *, wait: bool = True) -> Record:
    """Do a run that was checked; while another process works on it, wait, or raise HeldError without `wait`."""
    config, path = job.config, Study(job.out).folder(job.config).path

    def on_wait() -> None:
        on_progress(Progress(config.hash, config.label, "waiting"))

    with holding(path, wait=wait, stop=stop, on_wait=on_wait) as lease:
        folder = RunFolder(path, lease.check)
        record = folder.finished(config)  # another process may have finished it since
        if record is not None:
            parallel.broadcast_flag(False)
            return record
        return _run(job, folder, on_progress, stop)


def follow(config: RunConfig, threads: int, stop: Stop) -> None:
    """Train along with the first process of torchrun, which does `run`, if there is anything to train."""
    if not parallel.broadcast_flag(False):
        return
    model = new_model(config)
    prepare(threads)
    state = new_state(model, config.train)
    parallel.broadcast_state(state)
    train(state, run_task(config), config.train_scales, config.train, config.seed, stop=stop)
    _check_trained(state, config)


def _run(job: Job, folder: RunFolder, on_progress: OnProgress, stop: Stop) -> Record:
    config = job.config
    task, model = run_task(config), new_model(config)
    prepare(job.threads)
    folder.prepare(config)
    started = _start(config, folder)
    with tracking(job.log, config, folder.path) as log:
        state = _train(config, folder, task, model, on_progress, stop, log)
        results = _evaluate(config, task, model, on_progress, stop)
        log({f"exact/{scale}": result.exact for scale, result in results.items()}, state.step)
    record = Record(
        hash=config.hash,
        task=config.task,
        position=config.position,
        model=model_label(config),
        seed=config.seed,
        train_scales=list(config.train_scales),
        fitted=all(results[scale].exact >= FITTED for scale in config.train_scales),
        results=[results[scale] for scale in config.test_scales],
        hard=[result for scale in config.test_scales if (result := evaluate_hard(model, task, scale))] or None,
        steps=state.step,
        seconds=round(state.seconds, 2),
        threads=job.threads,
        precision=state.precision,
        version=ldhd.__version__,
        commit=source_commit(),
        command=job.command,
        extended_from=config.extended_from,
        started=started,
    )
    folder.write_result(record, _trace(config, task, model))
    return record


def _start(config: RunConfig, folder: RunFolder) -> Start | None:
    """Return where the source tree stood when training started, None if that is not known.

    A run that is resumed started when it was begun, and one that extends another when that one was.
    """
    if config.extended_from is None:
        return folder.begin(source_start())
    return folder.begin(RunFolder(folder.path.parent / config.extended_from).start())


def _train(
    config: RunConfig, folder: RunFolder, task: Task, model: GPT, on_progress: OnProgress, stop: Stop, log: Log
) -> State:
    """Train the model of a run to its last step, log it, and write its metrics, checkpoints and weights.

    Training starts from the newest checkpoint, from the run that this one extends, or anew. Raises Interrupted, after
    a checkpoint, when `stop()` returns True.
    """
    state = new_state(model, config.train)
    if not (_restore(state, folder, config) or _restore_weights(state, folder, config)):
        _start_from_extended(state, folder, task, config, stop)
    parallel.broadcast_flag(True)
    parallel.broadcast_state(state)

    def save() -> None:
        folder.write_metrics(state.metrics)
        checkpoint.save(folder.checkpoints, state, config.hash, folder.guard)

    def on_step(state: State, loss: float) -> None:
        if state.step % config.train.checkpoint_every == 0 or state.step == config.train.steps:
            save()
        if state.metrics and state.metrics[-1]["step"] == state.step:
            log(scalars(state.metrics[-1]), state.step)
        accuracy = state.metrics[-1]["accuracy"] if state.metrics else None
        on_progress(Progress(config.hash, config.label, "training", state.step, config.train.steps, loss, accuracy))

    train_scales, test_scales = config.train_scales, config.test_scales
    train(state, task, train_scales, config.train, config.seed, test_scales=test_scales, on_step=on_step, stop=stop)
    if state.step < config.train.steps:
        save()
    _check_trained(state, config)
    folder.write_metrics(state.metrics)
    checkpoint.save_model(folder.weights_path, model, config.hash, folder.guard)
    return state


def _check_trained(state: State, config: RunConfig) -> None:
    """Raise Interrupted if training has stopped before its last step."""
    if state.step < config.train.steps:
        raise Interrupted(f"{config.label} stopped at step {state.step} of {config.train.steps}")


def _restore(state: State, folder: RunFolder, config: RunConfig) -> bool:
    """Restore the newest good checkpoint of a run; return False if there is none."""
    return checkpoint.restore(folder.checkpoints, state, config.hash, config.train.steps)


def _restore_weights(state: State, folder: RunFolder, config: RunConfig) -> bool:
    """Restore the final weights where no checkpoint is left; the seconds of training are then unknown."""
    try:
        metrics = folder.completed_metrics(config)
        if metrics is None:
            return False
        checkpoint.load_model(folder.weights_path, state.model, config.hash)
    except (FileNotFoundError, BadFileError):
        return False
    warnings.warn(
        f"{folder.path} holds weights but no checkpoint: its seconds of training are given as 0", stacklevel=2
    )
    state.step, state.metrics, state.precision = config.train.steps, metrics, metrics[-1].get("precision")
    return True


def _start_from_extended(state: State, folder: RunFolder, task: Task, config: RunConfig, stop: Stop) -> None:
    """Start from the last state of the run that this one extends, if it does; that run lies beside this one."""
    if config.extended_from is None:
        return
    earlier_folder = RunFolder(folder.path.parent / config.extended_from)
    if not earlier_folder.config_path.exists():
        raise ValueError(f"{config.hash} extends the run {config.extended_from}, which is not in {folder.path.parent}")
    earlier = earlier_folder.config()
    if not _restore(state, earlier_folder, earlier):
        raise BadFileError(f"{config.hash} extends {earlier_folder.path}, which has no good checkpoint")
    train(state, task, earlier.train_scales, earlier.train, earlier.seed, stop=stop)  # if its last one was damaged
    if state.step < earlier.train.steps:
        raise Interrupted(f"{config.label} stopped before its first step")


def _evaluate(config: RunConfig, task: Task, model: GPT, on_progress: OnProgress, stop: Stop) -> dict[int, ScaleResult]:
    """Evaluate at every test scale and, since they decide whether the run is fitted, at every training scale."""
    scales = sorted({*config.train_scales, *config.test_scales})
    results = {}
    for done, scale in enumerate(scales):
        if stop():
            raise Interrupted(f"{config.label} stopped while testing")
        on_progress(Progress(config.hash, config.label, "testing", done, len(scales)))
        results[scale] = evaluate(model, task, scale, config.test_instances, config.seed)
    on_progress(Progress(config.hash, config.label, "done", 1))
    return results


def _trace(config: RunConfig, task: Task, model: GPT) -> dict[str, Any]:
    """Return the trace of the model on one instance, at the scale of `trace_scale`."""
    scale = trace_scale(config)
    # the same instance for every run of the task at this scale
    traced = trace(model, task.sample(scale, seeds.generator(0, "trace", task.name, scale)), task.vocabulary)
    return traced.document(task.needs(traced.instance), config.position)
